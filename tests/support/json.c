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

static cursor skip_space(cursor at) {
    while (at && *at && strchr(" \t\r\n", *at)) at++;
    return at;
}

static cursor skip_word(cursor at, const char *word) {
    size_t size = strlen(word);
    return at && !strncmp(at, word, size) ? at + size : NULL;
}

static cursor skip_digits(cursor at) {
    if (!at || *at < '0' || *at > '9') return NULL;
    while (*at >= '0' && *at <= '9') at++;
    return at;
}

static cursor skip_number(cursor at) {
    if (*at == '-') at++;
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at && *at == '.') at = skip_digits(at + 1);
    if (!at || (*at != 'e' && *at != 'E')) return at;
    at++;
    if (*at == '+' || *at == '-') at++;
    return skip_digits(at);
}

/* One character of UTF-8, neither overlong nor a surrogate. */
static cursor skip_character(cursor at) {
    const unsigned char *byte = (const unsigned char *)at;
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
    return at + 1 + more;
}

static cursor skip_escape(cursor at) {
    if (*at != 'u') return *at && strchr("\"\\/bfnrt", *at) ? at + 1 : NULL;
    for (int i = 1; i <= 4; i++)
        if (!at[i] || !strchr("0123456789abcdefABCDEF", at[i])) return NULL;
    return at + 5;
}

static cursor skip_string(cursor at) {
    if (!at || *at != '"') return NULL;
    for (at++; at && *at != '"';) {
        if ((unsigned char)*at < 0x20) return NULL;
        at = *at == '\\' ? skip_escape(at + 1) : skip_character(at);
    }
    return at ? at + 1 : NULL;
}

static cursor skip_value(cursor at, int depth);

/* The members of an object or the items of an array, up to the closing bracket. */
static cursor skip_items(cursor at, char close, int depth) {
    at = skip_space(at + 1);
    if (at && *at == close) return at + 1;
    while (at) {
        if (close == '}') at = skip_word(skip_space(skip_string(skip_space(at))), ":");
        at = skip_space(skip_value(at, depth - 1));
        if (!at || *at == close) break;
        at = skip_word(at, ",");
    }
    return at ? at + 1 : NULL;
}

static cursor skip_value(cursor at, int depth) {
    at = skip_space(at);
    if (!at || !depth) return NULL;
    switch (*at) {
    case '{': return skip_items(at, '}', depth);
    case '[': return skip_items(at, ']', depth);
    case '"': return skip_string(at);
    case 't': return skip_word(at, "true");
    case 'f': return skip_word(at, "false");
    case 'n': return skip_word(at, "null");
    default: return skip_number(at);
    }
}

void assert_json(const char *text, size_t size) {
    assert_non_null(text);
    assert_int_equal(strlen(text), size);
    cursor end = skip_space(skip_value(text, 64));
    if (!end || *end) fail_msg("no JSON: %s", text);
}
