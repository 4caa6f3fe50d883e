/* Text from data (records, ids, names, URLs) on its way to a terminal: see recmap_text_escape. */
#ifndef RECMAP_BASE_CORE_PRINTABLE_H
#define RECMAP_BASE_CORE_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/text.h>

/* Returns the length of the UTF-8 character at `data`, or 0 if it is malformed. `size` is not 0. */
size_t utf8_length(const uint8_t *data, size_t size);

/* Escapes what must not reach a terminal in a NUL-terminated text, which has room for `capacity`
 * bytes, at most PRINTABLE_MAX. What then does not fit is cut. */
enum { PRINTABLE_MAX = 8192 };
void make_printable(char *text, size_t capacity);

#endif
