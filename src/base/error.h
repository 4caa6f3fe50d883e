/* Filling a recmap_error. Each returns the status it set, so that `return fail(...)` reads well. */
#ifndef RECMAP_BASE_ERROR_H
#define RECMAP_BASE_ERROR_H

#include <recmap/status.h>

/* Sets status and message and clears the place and the advice. `error` may be NULL. */
recmap_status fail(recmap_error *error, recmap_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* RECMAP_NO_MEMORY with a message. */
recmap_status fail_memory(recmap_error *error);

/* RECMAP_IO (or NO_MEMORY for ENOMEM) about `path`: "cannot ACTION: <text of errno>", with advice
 * where errno tells what to do. */
recmap_status fail_errno(recmap_error *error, int system_errno, const char *path,
                         const char *action);

/* Adds the place to an error that was just set; NULL, RECMAP_NO_RECORD and RECMAP_NO_OFFSET leave
 * a part as it is. */
void fail_at(recmap_error *error, const char *path, uint64_t record, uint64_t offset);

/* Adds the file alone to an error that was just set. */
void fail_file(recmap_error *error, const char *path);

/* Adds the line that says what to do. */
void fail_advise(recmap_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
