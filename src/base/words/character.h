/* Kinds of characters, which do not depend on the locale. */
#ifndef RECMAP_BASE_WORDS_CHARACTER_H
#define RECMAP_BASE_WORDS_CHARACTER_H

#include <stdbool.h>

static inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* A letter of ASCII, or a byte of any other character in UTF-8. */
static inline bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

#endif
