#include "report/html.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { STRING_SHOWN_MAX = 200, LINE_SIZE = 1024 };

static void write_bytes(struct html *html, const char *data, size_t size) {
    errno = 0;
    if (fwrite(data, 1, size, html->stream) != size && !html->system_errno)
        html->system_errno = errno ? errno : EIO;
    html->size += size;
}

void html_put(struct html *html, const char *markup) {
    write_bytes(html, markup, strlen(markup));
}

void html_format(struct html *html, const char *format, ...) {
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    html_put(html, line);
}

/* The size of a character of UTF-8 by its first byte, or 0. */
static size_t character_size(uint8_t first) {
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return 2;
    if (first >= 0xe0 && first < 0xf0) return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Decodes one character. Returns its size, or 0 if the bytes are not UTF-8. */
static size_t decode(uint32_t *character, const uint8_t *text, size_t size) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = character_size(text[0]);
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

/* Characters that cannot be seen or that reorder text, and those that are not valid in HTML. */
static bool is_hidden(uint32_t character) {
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

static const char *entity_of(uint32_t character) {
    switch (character) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\r': return "\\r";
    default: return NULL;
    }
}

/* Writes the character at `text`, and returns its size. */
static size_t write_character(struct html *html, const uint8_t *text, size_t size) {
    uint32_t character;
    size_t length = decode(&character, text, size);
    if (!length) {
        html_format(html, "\\x%02x", text[0]);
        return 1;
    }
    const char *entity = entity_of(character);
    if (entity) html_put(html, entity);
    else if (is_hidden(character))
        html_format(html, character < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)character);
    else write_bytes(html, (const char *)text, length);
    return length;
}

void html_text(struct html *html, const void *text, size_t size, size_t limit) {
    const uint8_t *bytes = text;
    size_t shown = 0;
    for (size_t i = 0; i < size; shown++) {
        if (shown == limit) {
            html_put(html, "…");
            return;
        }
        i += write_character(html, bytes + i, size - i);
    }
}

void html_string(struct html *html, const char *text) {
    html_text(html, text, strlen(text), STRING_SHOWN_MAX);
}

void html_base64(struct html *html, const uint8_t *data, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t count = size - i < 3 ? size - i : 3;
        uint32_t group = (uint32_t)data[i] << 16;
        if (count > 1) group |= (uint32_t)data[i + 1] << 8;
        if (count > 2) group |= data[i + 2];
        char text[4] = {digits[group >> 18], digits[group >> 12 & 63],
                        count > 1 ? digits[group >> 6 & 63] : '=',
                        count > 2 ? digits[group & 63] : '='};
        write_bytes(html, text, sizeof text);
    }
}

bool html_is_text(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size;) {
        uint32_t character;
        size_t length = decode(&character, data + i, size - i);
        if (!length || is_control(character)) return false;
        i += length;
    }
    return true;
}
