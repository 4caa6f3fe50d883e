/* Fills in a recmap_error. The functions return the status they set, for use in `return fail(...)`.
 */
#ifndef RECMAP_BASE_CORE_ERROR_H
#define RECMAP_BASE_CORE_ERROR_H

#include <recmap/status.h>

/* Sets status and message and clears place and advice. `error` may be NULL. */
recmap_status fail(recmap_error *error, recmap_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets RECMAP_NO_MEMORY and its message. */
recmap_status fail_memory(recmap_error *error);

/* Sets RECMAP_IO (RECMAP_NO_MEMORY for ENOMEM) for `path` with the message "cannot ACTION: <text of
 * errno>", and advice if the errno suggests any. */
recmap_status fail_errno(recmap_error *error, int system_errno, const char *path,
                         const char *action);

/* Adds text to the end of the message that was just set. */
void fail_append(recmap_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the place to the error that was just set. NULL, RECMAP_NO_RECORD and RECMAP_NO_OFFSET leave
 * the respective part unchanged. If the path is a URL, what may be secret is left out (redact.h).
 */
void fail_at(recmap_error *error, const char *path, uint64_t record, uint64_t offset);

/* Adds only the file's path to the error that was just set. */
void fail_file(recmap_error *error, const char *path);

/* Adds the line that says what to do. */
void fail_advise(recmap_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns from the calling function, which must return a recmap_status too, unless the expression's
 * value is RECMAP_OK. For functions that have nothing to clean up. */
#define RETURN_IF_FAILED(expression)                                                               \
    do {                                                                                           \
        recmap_status status_of_expression = (expression);                                         \
        if (status_of_expression != RECMAP_OK) return status_of_expression;                        \
    } while (0)
#endif
