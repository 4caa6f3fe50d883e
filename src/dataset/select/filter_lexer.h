/* Splits an expression over lifted columns into tokens. */
#ifndef RECMAP_DATASET_SELECT_FILTER_LEXER_H
#define RECMAP_DATASET_SELECT_FILTER_LEXER_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/status.h>

enum filter_token_kind {
    FILTER_TOKEN_END,
    FILTER_TOKEN_NAME,
    FILTER_TOKEN_INTEGER,
    FILTER_TOKEN_FLOAT,
    FILTER_TOKEN_TEXT,
    FILTER_TOKEN_SYMBOL, /* one of == != < <= > >= ( ) [ ] { } , + - */
};

struct filter_token {
    enum filter_token_kind kind;
    size_t start; /* in the expression */
    size_t size;
    uint64_t integer; /* of an integer, UINT64_MAX if it is larger */
    double number;    /* of a float or integer */
    const char *text; /* of a text, decoded */
    size_t text_size;
};

struct filter_lexer {
    const char *expression;
    size_t size;
    size_t position;           /* after the current token */
    struct filter_token token; /* the current token */
    char *decoded;             /* texts, decoded; never more bytes than the expression has */
    size_t decoded_size;
};

/* What to write in place of a word of Python or SQL that an expression does not know, in any case,
 * or NULL. */
const char *filter_word_advice(const char *word, size_t size);

/* Starts before the first token. `text` has room for `size` bytes. */
struct filter_lexer filter_lexer_init(const char *expression, size_t size, char *text);

/* Moves to the next token. Errors: INVALID naming the character. */
recmap_status filter_lexer_next(struct filter_lexer *lexer, recmap_error *error);

/* Returns true if the current token is this symbol or name. */
bool filter_lexer_is(const struct filter_lexer *lexer, const char *word);

/* The error for the part of the expression from `start` on: the character, the source if `size` is
 * not 0, and what is wrong with it. Returns INVALID. */
recmap_status filter_fail(const struct filter_lexer *lexer, size_t start, size_t size,
                          recmap_error *error, const char *what);

enum { FILTER_PLACE_SIZE = 160 };

/* Writes "character N: `source`: ", without the source if `size` is 0. Returns `place`. */
const char *filter_place(char place[FILTER_PLACE_SIZE], const struct filter_lexer *lexer,
                         size_t start, size_t size);

#endif
