#include "report/characters.h"

/* The size of a character by its first byte, or 0. */
static size_t encoded_size(uint8_t first) {
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return 2;
    if (first >= 0xe0 && first < 0xf0) return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

size_t character_decode(uint32_t *character, const uint8_t *text, size_t size) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = encoded_size(text[0]);
    if (!length || length > size) return 0;
    uint32_t value = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    *character = value;
    return length;
}

static bool is_white_space(uint32_t character) {
    return character == '\t' || character == '\n' || character == '\r';
}

static bool is_control(uint32_t character) {
    return (character < 0x20 && !is_white_space(character)) ||
           (character >= 0x7f && character < 0xa0);
}

bool character_is_hidden(uint32_t character) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},   {0x2028, 0x202e},
                  {0x2060, 0x206f}, {0xfdd0, 0xfdef}, {0xfeff, 0xfeff},   {0xfff9, 0xfffb},
                  {0xfffe, 0xffff}, {0xe000, 0xf8ff}, {0xe0000, 0xe007f}, {0xf0000, 0x10ffff}};
    if ((character & 0xfffe) == 0xfffe) return true;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (character >= ranges[i].first && character <= ranges[i].last) return true;
    return is_control(character);
}

bool characters_are_text(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size;) {
        uint32_t character;
        size_t length = character_decode(&character, data + i, size - i);
        if (!length || is_control(character)) return false;
        i += length;
    }
    return true;
}
