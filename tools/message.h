/* What the tool says on stderr, and how it writes sizes and names for people. */
#ifndef RECMAP_MESSAGE_H
#define RECMAP_MESSAGE_H

#include <stdint.h>
#include <stdio.h>

#include <recmap/status.h>

/* `recmap: ...` on stderr. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An error of the tool's own, in the form of the library's: `path` and `advice` may be NULL.
 * Returns the exit status. */
int message_error(recmap_status status, const char *path, const char *advice, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* Sets `error` for a system call on `path` that failed with errno. Returns the status. */
recmap_status message_fail_errno(recmap_error *error, const char *path, const char *action);

enum { HUMAN_SIZE = 24 };

/* 999 B, 1.23 kB, 45.6 MB; returns `text`. */
const char *human_bytes(char text[HUMAN_SIZE], double bytes);

/* The s behind a noun: "" for one. */
const char *plural(uint64_t count);

/* Text from files, with `?` for what a terminal would obey. */
void print_safe(FILE *stream, const char *text);

/* The same, with \t and \u001b for them. */
void print_readable(FILE *stream, const char *text, size_t size);

#endif
