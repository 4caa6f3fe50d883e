/* Reads the features of a parser from rows or JSON objects. */
#ifndef RECMAP_PARSE_TEXT_TEXT_READER_H
#define RECMAP_PARSE_TEXT_TEXT_READER_H

#include "parse/plan/record_reader.h"
#include "parse/text/text_source.h"

/* Returns INVALID, naming the feature, if a reader of text cannot read one: it reads FIXED_LEN and
 * VAR_LEN that are not raw and hold no pictures. */
recmap_status text_reader_check(const recmap_feature *features, size_t count, recmap_error *error);

/* Creates a reader for the features of a compiled parser. `missing` is the text of fields without a
 * value, besides the empty one, and `separator` is between the values of a field; both are of rows
 * only. Errors: as text_source_init. */
recmap_status text_reader_create(struct record_reader **reader, const recmap_parser *parser,
                                 const struct text_format *format, const char *missing,
                                 char separator, recmap_error *error);

#endif
