/* Reads the id and the lifted columns of a record of text. */
#ifndef RECMAP_PARSE_TEXT_TEXT_LOOKUP_H
#define RECMAP_PARSE_TEXT_TEXT_LOOKUP_H

#include <recmap/record.h>

#include "parse/decode/read_fault.h"
#include "parse/plan/reader_memory.h"
#include "parse/text/text_source.h"

/* Reads the value of each key of the source, of the given types; NONE: of the type that it reads
 * like. A key without a value, or with an empty field, gives type NONE. Bytes are valid as long as
 * the record and the memory. Returns false and fills `fault` if the record is malformed, or a value
 * is not of its type. */
bool text_lookup(recmap_value *values, const struct text_source *source, const recmap_type *types,
                 const uint8_t *data, size_t size, struct reader_memory *memory,
                 struct read_fault *fault);

#endif
