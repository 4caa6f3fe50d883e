/* The value of a piece of text, as an element of a column or as a plain value. */
#ifndef RECMAP_PARSE_TEXT_TEXT_VALUE_H
#define RECMAP_PARSE_TEXT_TEXT_VALUE_H

#include <recmap/columns.h>

#include "parse/plan/reader_memory.h"
#include "parse/text/text_source.h"

/* Why a piece has no value of the wanted type. BAD_STRING: a JSON string with half of a surrogate
 * pair, or with bytes that are not UTF-8. */
enum text_verdict {
    TEXT_OK,
    TEXT_OTHER_TYPE,
    TEXT_OUT_OF_RANGE,
    TEXT_BAD_STRING,
    TEXT_NO_MEMORY,
};

/* Writes the piece as one element. Spaces around numbers of rows are ignored. Integers are written
 * without fraction and exponent in rows; in JSON 2.0 and 1e3 are integers. BOOL is true, false, 0
 * or 1. Bytes are views of the record, or of `memory` if they are written with escapes. */
enum text_verdict text_value_put(void *element, recmap_element kind, const struct text_piece *piece,
                                 bool is_json, struct reader_memory *memory);

/* The same as a value of the type; NONE: the type that the piece reads like, of rows INT64, FLOAT64
 * or BYTES. `value` has the type NONE if there is no piece. */
enum text_verdict text_value_read(recmap_value *value, recmap_type type,
                                  const struct text_piece *piece, bool is_json,
                                  struct reader_memory *memory);

/* The piece of a row without the quotes that are doubled in it. Returns false without memory. */
bool text_piece_unquote(struct text_piece *piece, struct reader_memory *memory);

/* The piece without spaces at its ends. */
struct text_piece text_piece_trim(struct text_piece piece);

#endif
