/* The values that a path leads to through an array of JSON objects. */
#ifndef RECMAP_PARSE_TEXT_JSON_GATHER_H
#define RECMAP_PARSE_TEXT_JSON_GATHER_H

#include "parse/plan/reader_memory.h"
#include "parse/text/text_source.h"

/* What is wrong with a text of the record. */
struct json_fault {
    const char *what; /* NULL: memory ran out */
    const char *at;
};

/* Replaces a piece that has a path, an array of objects, with the array of the values that the path
 * leads to, one of each object: of `[{"b": 1}, {"b": 2}]` and "b", it is `[1,2]`. If the path leads
 * through another array within each object, the values are arrays. The text is in `memory`. Returns
 * false and fills `fault` if the piece is not an array of objects, or if one of them has no value
 * there: leaving it out would pair the others with the wrong values of parallel lists. */
bool json_gather(struct text_piece *piece, struct reader_memory *memory, struct json_fault *fault);

#endif
