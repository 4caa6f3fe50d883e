/* Base64: bytes as text. What writes it is json_base64. */
#ifndef RECMAP_BASE_BASE64_H
#define RECMAP_BASE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Room that `size` characters need when they are decoded. */
size_t base64_capacity(size_t size);

/* Decodes both alphabets, + / and - _, with or without padding. Returns how many bytes there are,
 * or SIZE_MAX with `fault` at the character that does not fit. */
size_t base64_decode(uint8_t *bytes, size_t *fault, const char *text, size_t size);

#endif
