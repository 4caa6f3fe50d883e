/* Words of commands that messages advise. */
#ifndef RECMAP_BASE_SHELL_WORD_H
#define RECMAP_BASE_SHELL_WORD_H

#include <stdbool.h>
#include <stddef.h>

enum { SHELL_WORD_SIZE = 320 };

/* Writes text as one word of a POSIX shell, in quotes if it needs them. Returns false, and writes
 * "", if it does not fit; if it has control characters, which messages replace; or if it has a
 * backquote, which ends the command in a message. */
bool shell_word_write(char *word, size_t capacity, const char *text);

/* Writes NAME and what follows it, such as "=DEFAULT", as one word. A name that cannot be written
 * becomes FEATURE. Returns `word`. */
const char *shell_word_of_name(char word[SHELL_WORD_SIZE], const char *name, const char *suffix);

#endif
