/* Text from data (records, ids, names, URLs) on its way to a terminal: see recmap_text_escape. */
#ifndef RECMAP_BASE_WORDS_PRINTABLE_H
#define RECMAP_BASE_WORDS_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/text.h>

/* As recmap_text_unprintable and recmap_text_escape. */
size_t text_unprintable(uint32_t *character, const void *text, size_t size);
size_t text_escape(char escaped[RECMAP_ESCAPE_SIZE], const void *text, size_t size);

/* Returns the length of the UTF-8 character at `data`, or 0 if it is malformed. `size` is not 0. */
size_t utf8_length(const uint8_t *data, size_t size);

/* Escapes what must not reach a terminal in a NUL-terminated text, which has room for `capacity`
 * bytes, at most PRINTABLE_MAX. What then does not fit is cut. */
enum { PRINTABLE_MAX = 8192 };
void make_printable(char *text, size_t capacity);

#endif
