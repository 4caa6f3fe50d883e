#include "support/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The rest of the text; NULL once the text has turned out not to be JSON. */
typedef const char *cursor;

static cursor skip_space(cursor position) {
    while (position && *position && strchr(" \t\r\n", *position)) position++;
    return position;
}

static cursor skip_word(cursor position, const char *word) {
    size_t size = strlen(word);
    return position && !strncmp(position, word, size) ? position + size : NULL;
}

static cursor skip_digits(cursor position) {
    if (!position || *position < '0' || *position > '9') return NULL;
    while (*position >= '0' && *position <= '9') position++;
    return position;
}

static cursor skip_number(cursor position) {
    if (*position == '-') position++;
    position = *position == '0' ? position + 1 : skip_digits(position);
    if (position && *position == '.') position = skip_digits(position + 1);
    if (!position || (*position != 'e' && *position != 'E')) return position;
    position++;
    if (*position == '+' || *position == '-') position++;
    return skip_digits(position);
}

/* One character of UTF-8, neither overlong nor a surrogate. */
static cursor skip_character(cursor position) {
    const unsigned char *byte = (const unsigned char *)position;
    int more = byte[0] < 0x80   ? 0
               : byte[0] < 0xc2 ? -1
               : byte[0] < 0xe0 ? 1
               : byte[0] < 0xf0 ? 2
                                : 3;
    if (more < 0 || byte[0] > 0xf4) return NULL;
    for (int i = 1; i <= more; i++)
        if (byte[i] >> 6 != 2) return NULL;
    if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f) ||
        (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f))
        return NULL;
    return position + 1 + more;
}

static cursor skip_escape(cursor position) {
    if (*position != 'u') return *position && strchr("\"\\/bfnrt", *position) ? position + 1 : NULL;
    for (int i = 1; i <= 4; i++)
        if (!position[i] || !strchr("0123456789abcdefABCDEF", position[i])) return NULL;
    return position + 5;
}

static cursor skip_string(cursor position) {
    if (!position || *position != '"') return NULL;
    for (position++; position && *position != '"';) {
        if ((unsigned char)*position < 0x20) return NULL;
        position = *position == '\\' ? skip_escape(position + 1) : skip_character(position);
    }
    return position ? position + 1 : NULL;
}

static cursor skip_value(cursor position, int depth);

/* The members of an object or the items of an array, up to the closing bracket. */
static cursor skip_items(cursor position, char close, int depth) {
    position = skip_space(position + 1);
    if (position && *position == close) return position + 1;
    while (position) {
        if (close == '}') position = skip_word(skip_space(skip_string(skip_space(position))), ":");
        position = skip_space(skip_value(position, depth - 1));
        if (!position || *position == close) break;
        position = skip_word(position, ",");
    }
    return position ? position + 1 : NULL;
}

static cursor skip_value(cursor position, int depth) {
    position = skip_space(position);
    if (!position || !depth) return NULL;
    switch (*position) {
    case '{': return skip_items(position, '}', depth);
    case '[': return skip_items(position, ']', depth);
    case '"': return skip_string(position);
    case 't': return skip_word(position, "true");
    case 'f': return skip_word(position, "false");
    case 'n': return skip_word(position, "null");
    default: return skip_number(position);
    }
}

void assert_json(const char *text, size_t size) {
    assert_non_null(text);
    assert_int_equal(strlen(text), size);
    cursor end = skip_space(skip_value(text, 64));
    if (!end || *end) fail_msg("no JSON: %s", text);
}
