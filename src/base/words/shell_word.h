/* Words of commands: of those that messages advise, and of those that are run. */
#ifndef RECMAP_BASE_WORDS_SHELL_WORD_H
#define RECMAP_BASE_WORDS_SHELL_WORD_H

#include <stdbool.h>
#include <stddef.h>

enum { SHELL_WORD_SIZE = 320 };

/* Writes text as one word of a POSIX shell, in quotes if it needs them. Returns false, and writes
 * "", if it does not fit; if it has control characters, which messages escape; or if it has a
 * backquote, which ends the command in a message. */
bool shell_word_write(char *word, size_t capacity, const char *text);

/* Splits a command into words as a POSIX shell does, with quotes and backslashes, but expands
 * nothing: the words replace the text, and NULL follows the last. Returns their number, or SIZE_MAX
 * if a quote is not closed, a backslash ends the text, or there is no room for all words. */
size_t shell_words_split(char **words, size_t capacity, char *text);

/* Writes NAME and what follows it, such as "=DEFAULT", as one word. A name that cannot be written
 * becomes FEATURE. Returns `word`. */
const char *shell_word_of_name(char word[SHELL_WORD_SIZE], const char *name, const char *suffix);

#endif
