/* Characters of untrusted text in UTF-8. */
#ifndef RECMAP_TOOLS_REPORT_CHARACTERS_H
#define RECMAP_TOOLS_REPORT_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character. Returns its size, or 0 if the bytes are not UTF-8. */
size_t character_decode(uint32_t *character, const uint8_t *text, size_t size);

/* Characters that cannot be seen or that reorder text, and those that are not valid in HTML. */
bool character_is_hidden(uint32_t character);

/* True for UTF-8 without control characters other than white space. */
bool characters_are_text(const uint8_t *data, size_t size);

#endif
