#include "base/text/json_reader.h"

#include <assert.h>
#include <string.h>

#include "base/text/json.h"
#include "base/words/character.h"

char json_peek(struct json_reader *reader) {
    assert(reader->at <= reader->end);
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4)) reader->at++;
    return reader->at < reader->end ? *reader->at : 0;
}

bool json_take(struct json_reader *reader, char wanted) {
    if (json_peek(reader) != wanted || reader->at == reader->end) return false;
    reader->at++;
    return true;
}

bool json_take_word(struct json_reader *reader, const char *word) {
    size_t size = strlen(word);
    json_peek(reader);
    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, word, size)) return false;
    reader->at += size;
    return true;
}

bool json_at_end(struct json_reader *reader) {
    json_peek(reader);
    return reader->at == reader->end;
}

/* Reads the four digits of \uXXXX. */
static bool read_unit(struct json_reader *reader, uint32_t *unit) {
    static const char digits[] = "0123456789abcdefABCDEF";
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        if (reader->at == reader->end) return false;
        const char *digit = memchr(digits, *reader->at, sizeof digits - 1);
        if (!digit) return false;
        uint32_t value = (uint32_t)(digit - digits);
        *unit = *unit << 4 | (value < 16 ? value : value - 6);
        reader->at++;
    }
    return true;
}

static bool read_code(struct json_reader *reader, uint32_t *code) {
    uint32_t low;
    if (!read_unit(reader, code)) return false;
    if (*code < 0xd800 || *code > 0xdfff) return true;
    if (*code > 0xdbff || reader->end - reader->at < 2 || memcmp(reader->at, "\\u", 2))
        return false;
    reader->at += 2;
    if (!read_unit(reader, &low) || low < 0xdc00 || low > 0xdfff) return false;
    *code = 0x10000 + ((*code - 0xd800) << 10 | (low - 0xdc00));
    return true;
}

/* Encodes a code point in 1 to 4 bytes of UTF-8. */
static size_t put_code(char bytes[4], uint32_t code) {
    assert(code <= 0x10ffff);
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t prefixes[] = {0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(prefixes[more] | code >> 6 * more);
    for (size_t i = 1; i <= more; i++) bytes[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return more + 1;
}

/* Reads an escape after its backslash. */
static bool read_escape(struct json_reader *reader, char bytes[4], size_t *size) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end) return false;
    const char *name = memchr(names, *reader->at, sizeof names - 1);
    uint32_t code;
    *size = 1;
    if (name) bytes[0] = values[name - names];
    if (!name && *reader->at != 'u') return false;
    reader->at++;
    if (name) return true;
    if (!read_code(reader, &code)) return false;
    *size = put_code(bytes, code);
    return true;
}

/* Validates escapes and UTF-8 while looking for the closing quote, but decodes nothing, so that no
 * memory is needed. json_string_decode may then rely on a valid string. */
bool json_read_string(struct json_string *string, struct json_reader *reader) {
    char bytes[4];
    size_t size;
    bool has_escapes = false;
    if (!json_take(reader, '"')) return false;
    const char *start = reader->at;
    for (;; reader->at++) {
        if (reader->at == reader->end) return false;
        if (*reader->at == '"') break;
        if ((unsigned char)*reader->at < 0x20) return false;
        if (*reader->at != '\\') continue;
        has_escapes = true;
        reader->at++;
        if (!read_escape(reader, bytes, &size)) return false;
        reader->at--;
    }
    *string = (struct json_string){start, (size_t)(reader->at - start), has_escapes};
    if (!utf8_valid((const uint8_t *)start, string->size)) {
        reader->at = start;
        return false;
    }
    reader->at++;
    return true;
}

/* Reads a byte or an escape of a string, and returns the number of bytes. */
static size_t read_piece(struct json_reader *reader, char bytes[4]) {
    size_t size = 1;
    bytes[0] = *reader->at++;
    if (bytes[0] == '\\') read_escape(reader, bytes, &size);
    return size;
}

size_t json_string_decode(char *text, size_t capacity, const struct json_string *string) {
    struct json_reader reader = {string->data, string->data + string->size};
    size_t filled = 0;
    if (!string->has_escapes) {
        if (string->size > capacity) return SIZE_MAX;
        if (string->size) memcpy(text, string->data, string->size);
        return string->size;
    }
    while (reader.at < reader.end) {
        char bytes[4];
        size_t size = read_piece(&reader, bytes);
        if (size > capacity - filled) return SIZE_MAX;
        memcpy(text + filled, bytes, size);
        filled += size;
    }
    return filled;
}

bool json_string_is(const struct json_string *string, const char *text) {
    struct json_reader reader = {string->data, string->data + string->size};
    size_t left = strlen(text);
    while (reader.at < reader.end) {
        char bytes[4];
        size_t size = read_piece(&reader, bytes);
        if (size > left || memcmp(text, bytes, size) != 0) return false;
        text += size;
        left -= size;
    }
    return !left;
}

bool json_read_text(struct json_reader *reader, char *text, size_t capacity) {
    struct json_string string;
    if (!json_read_string(&string, reader)) return false;
    size_t size = json_string_decode(text, capacity - 1, &string);
    if (size == SIZE_MAX || memchr(text, 0, size)) return false;
    text[size] = 0;
    return true;
}

static bool is_at_digit(const struct json_reader *reader) {
    return reader->at < reader->end && is_digit(*reader->at);
}

bool json_read_uint64(struct json_reader *reader, uint64_t *value) {
    json_peek(reader);
    const char *first = reader->at;
    uint64_t sum = 0;
    for (; is_at_digit(reader); reader->at++) {
        uint64_t digit = (uint64_t)(*reader->at - '0');
        if (sum > (UINT64_MAX - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    if (reader->at == first || (*first == '0' && reader->at - first > 1)) return false;
    *value = sum;
    return true;
}

/* Skips an escape up to its last character. Surrogates need not be pairs. */
static bool check_escape(struct json_reader *reader) {
    uint32_t unit;
    reader->at++;
    if (reader->at == reader->end || !memchr("\"\\/bfnrtu", *reader->at, 9)) return false;
    if (*reader->at != 'u') return true;
    reader->at++;
    if (!read_unit(reader, &unit)) return false;
    reader->at--;
    return true;
}

static bool check_string(struct json_reader *reader) {
    if (!json_take(reader, '"')) return false;
    for (; reader->at < reader->end; reader->at++) {
        unsigned char here = (unsigned char)*reader->at;
        if (here == '"') {
            reader->at++;
            return true;
        }
        if (here < 0x20 || (here == '\\' && !check_escape(reader))) return false;
    }
    return false;
}

static bool check_scalar(struct json_reader *reader) {
    struct json_number number;
    switch (json_peek(reader)) {
    case '"': return check_string(reader);
    case 't': return json_take_word(reader, "true");
    case 'f': return json_take_word(reader, "false");
    case 'n': return json_take_word(reader, "null");
    case 'N': return json_take_word(reader, "NaN");
    case 'I': return json_take_word(reader, "Infinity");
    default: return json_take_word(reader, "-Infinity") || json_read_number(&number, reader);
    }
}

/* The closing brackets of the arrays and objects around a value. */
struct nesting {
    char closers[JSON_DEPTH_MAX];
    size_t depth;
};

/* Skips an opening bracket, unless there is another value. */
static bool take_opener(struct json_reader *reader, struct nesting *nesting) {
    char here = json_peek(reader);
    if ((here != '[' && here != '{') || nesting->depth == JSON_DEPTH_MAX) return false;
    nesting->closers[nesting->depth++] = here == '[' ? ']' : '}';
    reader->at++;
    return true;
}

/* Skips the closing bracket of the innermost array or object, if it is there. */
static bool take_closer(struct json_reader *reader, struct nesting *nesting) {
    if (!nesting->depth || !json_take(reader, nesting->closers[nesting->depth - 1])) return false;
    nesting->depth--;
    return true;
}

/* Skips the name and the colon before a value in an object. Values in arrays have none. */
static bool check_name(struct json_reader *reader, const struct nesting *nesting) {
    if (nesting->closers[nesting->depth - 1] == ']') return true;
    return check_string(reader) && json_take(reader, ':');
}

/* Each round begins at a value. Of an array or object with items it skips the opening bracket, and
 * any other value as a whole, with the brackets that close after it and the comma. Then follows the
 * name of the next value, if that is in an object. */
bool json_check_value(struct json_reader *reader) {
    struct nesting nesting;
    nesting.depth = 0;
    do {
        bool has_items = take_opener(reader, &nesting);
        if (!has_items && !check_scalar(reader)) return false;
        if (has_items) has_items = !take_closer(reader, &nesting);
        if (!has_items) {
            while (take_closer(reader, &nesting)) continue;
            if (nesting.depth && !json_take(reader, ',')) return false;
        }
        if (nesting.depth && !check_name(reader, &nesting)) return false;
    } while (nesting.depth);
    return true;
}

void json_skip_value(struct json_reader *reader) {
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
