/* Decodes Base64. json_base64 encodes it. */
#ifndef RECMAP_BASE_TEXT_BASE64_H
#define RECMAP_BASE_TEXT_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Returns the room needed to decode `size` characters. */
size_t base64_capacity(size_t size);

/* Decodes both alphabets (+ / and - _), with or without padding. Returns the number of bytes, or
 * SIZE_MAX with the index of the first invalid character in `fault`. */
size_t base64_decode(uint8_t *bytes, size_t *fault, const char *text, size_t size);

#endif
