#include "base/words/printable.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* RFC 3629; table 3-7 of the Unicode standard. */
size_t utf8_length(const uint8_t *data, size_t size) {
    assert(size > 0);
    uint8_t first = data[0];
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size < length) return 0;
    uint8_t low = 0x80, high = 0xbf;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
    if (data[1] < low || data[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if (data[i] < 0x80 || data[i] > 0xbf) return 0;
    return length;
}

static uint32_t decode(const uint8_t *data, size_t length) {
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = data[0] & masks[length];
    for (size_t i = 1; i < length; i++) character = character << 6 | (data[i] & 0x3f);
    return character;
}

/* Characters that move the cursor, change the direction of text, or are invisible, so that a text
 * looks like another one: control characters, Zl and Zp, Cf without the few that are visible, and
 * Unicode's Default_Ignorable_Code_Point. python/recmap/_base/errors.py has the same table. */
static const struct {
    uint32_t first, last;
} unprintable[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

/* The first bytes of these characters in UTF-8, except for ASCII. */
static bool may_be_unprintable(uint8_t first) {
    return first == 0xc2 || first == 0xcd || first == 0xd8 || first == 0xf0 || first == 0xf3 ||
           (first >= 0xe1 && first <= 0xe3) || first == 0xef;
}

/* Bytes from 0x80 to 0x9f that are not UTF-8 are control characters to some terminals. */
size_t text_unprintable(uint32_t *character, const void *text, size_t size) {
    const uint8_t *data = text;
    if (!size) return 0;
    *character = data[0];
    if (data[0] < 0x80) return data[0] < 0x20 || data[0] == 0x7f;
    size_t length = utf8_length(data, size);
    if (!length) return data[0] < 0xa0;
    if (!may_be_unprintable(data[0])) return 0;
    *character = decode(data, length);
    for (size_t i = 0; i < sizeof unprintable / sizeof *unprintable; i++)
        if (*character >= unprintable[i].first && *character <= unprintable[i].last) return length;
    return 0;
}

static void write_code(char escaped[RECMAP_ESCAPE_SIZE], uint32_t character) {
    unsigned code = character;
    if (code > 0xffff) snprintf(escaped, RECMAP_ESCAPE_SIZE, "\\U%08x", code);
    else if (code > 0xff) snprintf(escaped, RECMAP_ESCAPE_SIZE, "\\u%04x", code);
    else snprintf(escaped, RECMAP_ESCAPE_SIZE, "\\x%02x", code);
}

size_t text_escape(char escaped[RECMAP_ESCAPE_SIZE], const void *text, size_t size) {
    uint32_t character;
    size_t length = text_unprintable(&character, text, size);
    escaped[0] = 0;
    if (!size) return 0;
    if (!length) {
        length = utf8_length(text, size);
        if (!length) length = 1;
        memcpy(escaped, text, length);
        escaped[length] = 0;
    } else if (character == '\t' || character == '\n' || character == '\r') {
        snprintf(escaped, RECMAP_ESCAPE_SIZE, "\\%c",
                 character == '\t'   ? 't'
                 : character == '\n' ? 'n'
                                     : 'r');
    } else {
        write_code(escaped, character);
    }
    return length;
}

void make_printable(char *text, size_t capacity) {
    char original[PRINTABLE_MAX];
    size_t left = strlen(text), size = 0;
    assert(left < capacity && capacity <= sizeof original);
    memcpy(original, text, left);
    for (const char *next = original; left;) {
        char escaped[RECMAP_ESCAPE_SIZE];
        size_t length = text_escape(escaped, next, left), added = strlen(escaped);
        if (size + added >= capacity) break;
        memcpy(text + size, escaped, added);
        size += added;
        next += length;
        left -= length;
    }
    text[size] = 0;
}
