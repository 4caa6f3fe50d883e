#include "report/html.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "report/characters.h"

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
    size_t length = character_decode(&character, text, size);
    if (!length) {
        html_format(html, "\\x%02x", text[0]);
        return 1;
    }
    const char *entity = entity_of(character);
    if (entity) html_put(html, entity);
    else if (character_is_hidden(character))
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
