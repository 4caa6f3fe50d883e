#include "base/words/shell_word.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/words/printable.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-./:@%+,=";

/* The second and later bytes of a character are not control characters. */
static bool starts_unprintable(uint32_t *character, const char *text, size_t size) {
    bool is_within = ((unsigned char)*text & 0xc0) == 0x80;
    return !is_within && text_unprintable(character, text, size);
}

static bool is_writable(const char *text) {
    uint32_t character;
    for (size_t left = strlen(text); left; text++, left--)
        if (*text == '`' || starts_unprintable(&character, text, left)) return false;
    return true;
}

/* Within single quotes all characters stand for themselves. A single quote ends them, so it is
 * written as '\''. */
static bool write_quoted(char *word, size_t capacity, const char *text) {
    size_t size = 0;
    if (capacity < sizeof "''") return false;
    word[size++] = '\'';
    for (; *text; text++) {
        const char *piece = *text == '\'' ? "'\\''" : text;
        size_t piece_size = *text == '\'' ? 4 : 1;
        if (size + piece_size + sizeof "'" > capacity) return false;
        memcpy(word + size, piece, piece_size);
        size += piece_size;
    }
    memcpy(word + size, "'", sizeof "'");
    return true;
}

bool shell_word_write(char *word, size_t capacity, const char *text) {
    bool is_plain = text[0] && !text[strspn(text, plain)];
    bool is_written = is_writable(text);
    if (is_written && !is_plain) is_written = write_quoted(word, capacity, text);
    else if (is_written) is_written = (size_t)snprintf(word, capacity, "%s", text) < capacity;
    if (!is_written) word[0] = 0;
    return is_written;
}

const char *shell_word_of_name(char word[SHELL_WORD_SIZE], const char *name, const char *suffix) {
    char text[SHELL_WORD_SIZE];
    int size = snprintf(text, sizeof text, "%s%s", name, suffix);
    bool is_whole = size >= 0 && (size_t)size < sizeof text;
    if (!is_whole || !shell_word_write(word, SHELL_WORD_SIZE, text))
        snprintf(word, SHELL_WORD_SIZE, "FEATURE%s", suffix);
    return word;
}

/* Copies a part of a word in quotes to `end`, and returns its end; NULL if the quote is not closed.
 * `*text` follows the opening quote, and then the closing one. */
static char *take_quoted(char *end, const char **text, char quote) {
    for (; **text && **text != quote; (*text)++) {
        bool is_escaped = quote == '"' && **text == '\\' &&
                          ((*text)[1] == '"' || (*text)[1] == '\\');
        if (is_escaped) (*text)++;
        *end++ = **text;
    }
    return *(*text)++ ? end : NULL;
}

/* Copies a word, which is never longer than its text, and returns its end; NULL if it is cut. */
static char *take_word(char *end, const char **text) {
    while (end && **text && !strchr(" \t\r\n", **text)) {
        char c = *(*text)++;
        if (c == '"' || c == '\'') end = take_quoted(end, text, c);
        else if (c != '\\') *end++ = c;
        else if (**text) *end++ = *(*text)++;
        else return NULL;
    }
    return end;
}

size_t shell_words_split(char **words, size_t capacity, char *text) {
    const char *next = text;
    size_t count = 0;
    for (;;) {
        next += strspn(next, " \t\r\n");
        if (count == capacity) return SIZE_MAX;
        words[count] = NULL;
        if (!*next) return count;
        words[count++] = text;
        char *end = take_word(text, &next);
        if (!end) return SIZE_MAX;
        if (*next) next++;
        *end = 0;
        text = end + 1;
    }
}
