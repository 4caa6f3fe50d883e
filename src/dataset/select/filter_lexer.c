#include "dataset/select/filter_lexer.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/words/character.h"

enum { NUMBER_SIZE_MAX = 400, SHOWN_SIZE_MAX = 60 };

struct filter_lexer filter_lexer_init(const char *expression, size_t size, char *text) {
    return (struct filter_lexer){.expression = expression, .size = size, .decoded = text};
}

/* Characters, not bytes, are counted: continuation bytes of UTF-8 begin with the bits 10. */
static size_t character_at(const struct filter_lexer *lexer, size_t position) {
    size_t characters = 1;
    for (size_t i = 0; i < position; i++) characters += (lexer->expression[i] & 0xc0) != 0x80;
    return characters;
}

/* The size of the source that is shown, which must not end within a character. */
static size_t shown_size(const char *source, size_t size) {
    if (size <= SHOWN_SIZE_MAX) return size;
    size = SHOWN_SIZE_MAX;
    while (size && (source[size] & 0xc0) == 0x80) size--;
    return size;
}

const char *filter_place(char place[FILTER_PLACE_SIZE], const struct filter_lexer *lexer,
                         size_t start, size_t size) {
    const char *source = lexer->expression + start;
    size_t shown = shown_size(source, size), number = character_at(lexer, start);
    if (!size) snprintf(place, FILTER_PLACE_SIZE, "character %zu: ", number);
    else
        snprintf(place, FILTER_PLACE_SIZE, "character %zu: `%.*s%s`: ", number, (int)shown, source,
                 shown < size ? "..." : "");
    return place;
}

static char byte_at(const struct filter_lexer *lexer, size_t position) {
    return position < lexer->size ? lexer->expression[position] : 0;
}

/* Operators of C, or of NumPy's masks. */
static bool is_logical_symbol(const struct filter_lexer *lexer, size_t start) {
    char symbol = byte_at(lexer, start);
    return (symbol && strchr("&|~", symbol)) || (symbol == '!' && byte_at(lexer, start + 1) != '=');
}

/* Words of Python and SQL that an expression does not know. */
const char *filter_word_advice(const char *word, size_t size) {
    static const struct {
        const char *words, *advice;
    } known[] = {
        {" none null nan ", "to find records without a value, use `COLUMN is null`"},
        {" true false ", "true and false are the numbers 1 and 0: write `COLUMN == 1`"},
        {" and or not in is ", "write `and`, `or`, `not`, `in` and `is` in lower case"},
        {" like ilike between contains startswith endswith ",
         "there is no such operator: for a range, write `1 <= COLUMN <= 5`, and for texts, `==` or "
         "`in ('de', 'fr')`; select others with a mask of NumPy in Python"},
    };
    char lower[16] = " ";
    bool is_lower = true;
    if (!size || size > sizeof lower - 3) return NULL;
    for (size_t i = 0; i < size; i++) {
        if (!isalpha((unsigned char)word[i])) return NULL;
        lower[i + 1] = (char)tolower((unsigned char)word[i]);
        is_lower &= lower[i + 1] == word[i];
    }
    lower[size + 1] = ' ';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(known[i].words, lower) && !(is_lower && strstr(" and or not in is ", lower)))
            return known[i].advice;
    return NULL;
}

/* The letters of the word that starts there. */
static size_t word_size(const struct filter_lexer *lexer, size_t start) {
    size_t size = 0;
    while (isalnum((unsigned char)byte_at(lexer, start + size)) ||
           byte_at(lexer, start + size) == '_')
        size++;
    return size;
}

recmap_status filter_fail(const struct filter_lexer *lexer, size_t start, size_t size,
                          recmap_error *error, const char *what) {
    char place[FILTER_PLACE_SIZE];
    fail(error, RECMAP_INVALID, "%s%s", filter_place(place, lexer, start, size), what);
    if (is_logical_symbol(lexer, start)) {
        fail_advise(error, "combine comparisons with the words `and`, `or` and `not`");
        return RECMAP_INVALID;
    }
    if (byte_at(lexer, start) == '@') {
        fail_advise(error, "the column @length is written `length`, or `columns['@length']`");
        return RECMAP_INVALID;
    }
    const char *advice =
        start < lexer->size ? filter_word_advice(lexer->expression + start, word_size(lexer, start))
                            : NULL;
    if (advice) {
        fail_advise(error, "%s", advice);
        return RECMAP_INVALID;
    }
    fail_advise(error, "write comparisons of columns with values, such as `label == 3 and lang in "
                       "('de', 'fr')`; `columns['a/b']` is a column whose name is not a Python "
                       "name");
    return RECMAP_INVALID;
}

bool filter_lexer_is(const struct filter_lexer *lexer, const char *word) {
    const struct filter_token *token = &lexer->token;
    return (token->kind == FILTER_TOKEN_NAME || token->kind == FILTER_TOKEN_SYMBOL) &&
           token->size == strlen(word) &&
           !memcmp(lexer->expression + token->start, word, token->size);
}

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static void lex_name(struct filter_lexer *lexer) {
    struct filter_token *token = &lexer->token;
    token->kind = FILTER_TOKEN_NAME;
    while (is_name_start(byte_at(lexer, lexer->position)) ||
           is_digit(byte_at(lexer, lexer->position)))
        lexer->position++;
    token->size = lexer->position - token->start;
}

/* Moves after digits, between which single underscores may be. Copies the digits. */
static void copy_digits(struct filter_lexer *lexer, char *copy, size_t *size) {
    for (;; lexer->position++) {
        char c = byte_at(lexer, lexer->position);
        bool is_gap = c == '_' && *size && is_digit(byte_at(lexer, lexer->position + 1));
        if (!is_digit(c) && !is_gap) return;
        if (is_digit(c) && *size < NUMBER_SIZE_MAX) copy[(*size)++] = c;
    }
}

/* Copies an exponent, if one follows. */
static bool copy_exponent(struct filter_lexer *lexer, char *copy, size_t *size) {
    char c = byte_at(lexer, lexer->position), sign = byte_at(lexer, lexer->position + 1);
    bool has_sign = sign == '-' || sign == '+';
    if ((c != 'e' && c != 'E') || !is_digit(byte_at(lexer, lexer->position + 1 + has_sign)))
        return false;
    copy[(*size)++] = 'e';
    if (has_sign) copy[(*size)++] = sign;
    lexer->position += 1u + has_sign;
    copy_digits(lexer, copy, size);
    return true;
}

static uint64_t parse_integer(const char *digits) {
    uint64_t value = 0;
    for (; *digits; digits++) {
        uint64_t digit = (uint64_t)(*digits - '0');
        if (value > (UINT64_MAX - digit) / 10) return UINT64_MAX;
        value = value * 10 + digit;
    }
    return value;
}

/* A decimal point is a point, whatever the locale of the process. */
static double parse_float(const char *digits) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = c_locale ? strtod_l(digits, NULL, c_locale) : strtod(digits, NULL);
    if (c_locale) freelocale(c_locale);
    return value;
}

/* The digits are copied, because strtod needs a terminated text, and the expression is not. Digits
 * beyond the buffer are skipped, so that the error can show the whole number. */
static recmap_status lex_number(struct filter_lexer *lexer, recmap_error *error) {
    struct filter_token *token = &lexer->token;
    char copy[NUMBER_SIZE_MAX + 8];
    size_t size = 0;
    copy_digits(lexer, copy, &size);
    bool is_float = byte_at(lexer, lexer->position) == '.';
    if (is_float) {
        copy[size++] = '.';
        lexer->position++;
        copy_digits(lexer, copy, &size);
    }
    if (size < NUMBER_SIZE_MAX && copy_exponent(lexer, copy, &size)) is_float = true;
    copy[size] = 0;
    token->size = lexer->position - token->start;
    if (size >= NUMBER_SIZE_MAX)
        return filter_fail(lexer, token->start, token->size, error, "the number is too long");
    token->kind = is_float ? FILTER_TOKEN_FLOAT : FILTER_TOKEN_INTEGER;
    token->number = parse_float(copy);
    token->integer = is_float ? 0 : parse_integer(copy);
    return RECMAP_OK;
}

static void put_utf8(struct filter_lexer *lexer, uint32_t code) {
    char *out = lexer->decoded + lexer->decoded_size;
    if (code < 0x80) {
        out[0] = (char)code;
        lexer->decoded_size += 1;
    } else if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        lexer->decoded_size += 2;
    } else {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        lexer->decoded_size += 3;
    }
}

/* Reads `count` hexadecimal digits. Returns false if there are fewer. */
static bool lex_hex(struct filter_lexer *lexer, unsigned count, uint32_t *code) {
    *code = 0;
    for (unsigned i = 0; i < count; i++) {
        char c = byte_at(lexer, lexer->position++);
        if (is_digit(c)) *code = *code << 4 | (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f') *code = *code << 4 | (uint32_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F') *code = *code << 4 | (uint32_t)(c - 'A' + 10);
        else return false;
    }
    return true;
}

/* Decodes the escape after a backslash. Returns false if it is unknown. Each has at least as many
 * bytes as what it decodes to. */
static bool lex_escape(struct filter_lexer *lexer, bool is_bytes) {
    static const char letters[] = "\\'\"ntr", values[] = "\\'\"\n\t\r";
    char c = byte_at(lexer, lexer->position++);
    const char *letter = c ? strchr(letters, c) : NULL;
    uint32_t code;
    if (letter) {
        lexer->decoded[lexer->decoded_size++] = values[letter - letters];
        return true;
    }
    if (c == 'x' && lex_hex(lexer, 2, &code)) {
        if (is_bytes) lexer->decoded[lexer->decoded_size++] = (char)code;
        else put_utf8(lexer, code);
        return true;
    }
    if (c != 'u' || is_bytes || !lex_hex(lexer, 4, &code) || (code & 0xf800) == 0xd800)
        return false;
    put_utf8(lexer, code);
    return true;
}

/* The size of a backslash and the character that follows it, if one does. */
static size_t escape_size(const struct filter_lexer *lexer, size_t escape) {
    size_t end = escape + 1 + (escape + 1 < lexer->size);
    while (end < lexer->size && (lexer->expression[end] & 0xc0) == 0x80) end++;
    return end - escape;
}

/* Decodes the text after those that precede it. Decoding never lengthens a text, so memory of the
 * size of the expression is enough for all texts. */
static recmap_status lex_text(struct filter_lexer *lexer, bool is_bytes, recmap_error *error) {
    struct filter_token *token = &lexer->token;
    char quote = byte_at(lexer, lexer->position++);
    token->kind = FILTER_TOKEN_TEXT;
    token->text = lexer->decoded + lexer->decoded_size;
    size_t start = lexer->decoded_size;
    for (;;) {
        if (lexer->position >= lexer->size)
            return filter_fail(lexer, token->start, 0, error, "the text has no closing quote");
        char c = byte_at(lexer, lexer->position++);
        if (c == quote) break;
        size_t escape = lexer->position - 1;
        if (c != '\\') lexer->decoded[lexer->decoded_size++] = c;
        else if (!lex_escape(lexer, is_bytes))
            return filter_fail(lexer, escape, escape_size(lexer, escape), error,
                               "unknown escape in a text");
    }
    token->size = lexer->position - token->start;
    token->text_size = lexer->decoded_size - start;
    return RECMAP_OK;
}

static recmap_status lex_symbol(struct filter_lexer *lexer, recmap_error *error) {
    struct filter_token *token = &lexer->token;
    char c = byte_at(lexer, lexer->position), next = byte_at(lexer, lexer->position + 1);
    token->kind = FILTER_TOKEN_SYMBOL;
    token->size = next == '=' && c && strchr("=!<>", c) ? 2 : 1;
    lexer->position += token->size;
    if (token->size == 2 || (c && strchr("<>()[]{},+-", c))) return RECMAP_OK;
    if (c == '=') return filter_fail(lexer, token->start, 1, error, "use `==` to compare");
    return filter_fail(lexer, token->start, 0, error, "unexpected character");
}

recmap_status filter_lexer_next(struct filter_lexer *lexer, recmap_error *error) {
    while (lexer->position < lexer->size && strchr(" \t\r\n", byte_at(lexer, lexer->position)) &&
           byte_at(lexer, lexer->position))
        lexer->position++;
    lexer->token = (struct filter_token){.start = lexer->position};
    if (lexer->position >= lexer->size) return RECMAP_OK;
    char c = byte_at(lexer, lexer->position), next = byte_at(lexer, lexer->position + 1);
    if (is_digit(c) || (c == '.' && is_digit(next))) return lex_number(lexer, error);
    if (c == '\'' || c == '"') return lex_text(lexer, false, error);
    if (c == 'b' && (next == '\'' || next == '"')) {
        lexer->position++;
        return lex_text(lexer, true, error);
    }
    if (!is_name_start(c)) return lex_symbol(lexer, error);
    lex_name(lexer);
    return RECMAP_OK;
}
