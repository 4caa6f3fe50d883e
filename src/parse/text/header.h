/* The row that names the fields of CSV files, compared between files. */
#ifndef RECMAP_PARSE_TEXT_HEADER_H
#define RECMAP_PARSE_TEXT_HEADER_H

#include "parse/text/text_source.h"

/* Checks that a header names the same fields in the same order as the header `due` of the file or
 * index `due_path`. Quotes do not matter. Errors: MISMATCH, with the other path and the first
 * difference. */
recmap_status header_check(const struct text_format *header, const struct text_format *due,
                           const char *due_path, recmap_error *error);

#endif
