#include "state/json_reader.h"

#include <string.h>

static void skip_space(json_reader *reader) {
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4)) reader->at++;
}

bool json_take(json_reader *reader, char wanted) {
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != wanted) return false;
    reader->at++;
    return true;
}

bool json_at_end(json_reader *reader) {
    skip_space(reader);
    return reader->at == reader->end;
}

/* The four digits of \uXXXX. */
static bool read_unit(json_reader *reader, uint32_t *unit) {
    static const char digits[] = "0123456789abcdefABCDEF";
    if (reader->end - reader->at < 4) return false;
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        const char *digit = memchr(digits, *reader->at++, sizeof digits - 1);
        if (!digit) return false;
        uint32_t value = (uint32_t)(digit - digits);
        *unit = *unit << 4 | (value < 16 ? value : value - 6);
    }
    return true;
}

static bool read_code(json_reader *reader, uint32_t *code) {
    uint32_t low;
    if (!read_unit(reader, code)) return false;
    if (*code < 0xd800 || *code > 0xdfff) return *code != 0;
    if (*code > 0xdbff || reader->end - reader->at < 2 || memcmp(reader->at, "\\u", 2))
        return false;
    reader->at += 2;
    if (!read_unit(reader, &low) || low < 0xdc00 || low > 0xdfff) return false;
    *code = 0x10000 + ((*code - 0xd800) << 10 | (low - 0xdc00));
    return true;
}

/* UTF-8 of a code point: 1 to 4 bytes. */
static size_t put_code(char bytes[4], uint32_t code) {
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(heads[more] | code >> 6 * more);
    for (size_t i = 1; i <= more; i++) bytes[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return more + 1;
}

/* What stands behind a backslash. */
static bool read_escape(json_reader *reader, char bytes[4], size_t *size) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end) return false;
    char name = *reader->at++;
    const char *found = memchr(names, name, sizeof names - 1);
    uint32_t code;
    *size = 1;
    if (found) bytes[0] = values[found - names];
    if (found || name != 'u') return found != NULL;
    if (!read_code(reader, &code)) return false;
    *size = put_code(bytes, code);
    return true;
}

bool json_read_text(json_reader *reader, char *text, size_t capacity) {
    size_t filled = 0;
    if (!json_take(reader, '"')) return false;
    while (reader->at < reader->end) {
        char bytes[4] = {*reader->at++};
        size_t size = 1;
        if (bytes[0] == '"') {
            text[filled] = 0;
            return true;
        }
        if ((unsigned char)bytes[0] < 0x20) return false;
        if (bytes[0] == '\\' && !read_escape(reader, bytes, &size)) return false;
        if (size >= capacity - filled) return false;
        memcpy(text + filled, bytes, size);
        filled += size;
    }
    return false;
}

bool json_read_uint64(json_reader *reader, uint64_t *value) {
    skip_space(reader);
    const char *first = reader->at;
    uint64_t sum = 0;
    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        uint64_t digit = (uint64_t)(*reader->at - '0');
        if (sum > (UINT64_MAX - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    if (reader->at == first || (*first == '0' && reader->at - first > 1)) return false;
    *value = sum;
    return true;
}

void json_skip_value(json_reader *reader) {
    size_t depth = 0;
    bool in_string = false;
    for (; reader->at < reader->end; reader->at++) {
        char here = *reader->at;
        if (in_string && here == '\\' && reader->at + 1 < reader->end) reader->at++;
        else if (here == '"') in_string = !in_string;
        else if (in_string) continue;
        else if (!depth && (here == ',' || here == '}')) return;
        else if (here == '{' || here == '[') depth++;
        else if (here == '}' || here == ']') depth -= depth > 0;
    }
}
