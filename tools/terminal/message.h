/* Messages on stderr, and formatting of sizes, plurals and untrusted text. */
#ifndef RECMAP_TOOLS_TERMINAL_MESSAGE_H
#define RECMAP_TOOLS_TERMINAL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <recmap/status.h>

/* Returns from the calling function, which must return a recmap_status too, unless the expression's
 * value is RECMAP_OK. */
#define RETURN_IF_FAILED(expression)                                                               \
    do {                                                                                           \
        recmap_status status_of_expression = (expression);                                         \
        if (status_of_expression != RECMAP_OK) return status_of_expression;                        \
    } while (0)

/* Prints `recmap: ...` to stderr. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints an error in the form of the library's. `path` and `advice` may be NULL. Returns the exit
 * status. */
int message_error(recmap_status status, const char *path, const char *advice, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* Prints an error or a warning of the library, without advice that is only for programs in C.
 * Returns the exit status. */
int message_print(const recmap_error *error);

/* Prints a warning of the library. For recmap_set_warn. */
void message_print_warning(const recmap_error *warning, void *unused);

/* Sets `error` with control characters escaped. `path` and `advice` may be NULL. Returns `status`.
 */
recmap_status message_fail(recmap_error *error, recmap_status status, const char *path,
                           const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Sets `error` for a failed allocation. Returns the status. */
recmap_status message_fail_memory(recmap_error *error);

/* Sets `error` for a system call on `path` that failed with errno. Returns the status. */
recmap_status message_fail_errno(recmap_error *error, const char *path, const char *action);

enum { HUMAN_SIZE = 24 };

/* Formats 999 B, 1.23 kB, 45.6 MB. Returns `text`. */
const char *human_bytes(char text[HUMAN_SIZE], double bytes);

/* Returns "" if `count` is 1, else "s". */
const char *plural(uint64_t count);

/* Prints text with escapes for what must not reach a terminal: see recmap_text_escape. */
void print_safe(FILE *stream, const char *text);

/* The same for text that may contain NUL bytes. */
void print_readable(FILE *stream, const char *text, size_t size);

/* Prints the fewest digits that give back the same float. False if that fails. */
bool print_float(FILE *stream, float value);

#endif
