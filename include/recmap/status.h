/* Status codes, and the error struct that every function that can fail fills in. */
#ifndef RECMAP_STATUS_H
#define RECMAP_STATUS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RECMAP_API __attribute__((visibility("default")))
#define RECMAP_NODISCARD __attribute__((warn_unused_result))
#else
#define RECMAP_API
#define RECMAP_NODISCARD
#endif

#define RECMAP_VERSION_MAJOR 0
#define RECMAP_VERSION_MINOR 2
#define RECMAP_VERSION_PATCH 0
#define RECMAP_VERSION "0.2.0"

/* X(name, exit status of the command, text) */
#define RECMAP_STATUSES(X)                                                                         \
    X(OK, 0, "done")                                                                               \
    X(NOT_FOUND, 1, "not found")                                                                   \
    X(INVALID, 2, "invalid argument")                                                              \
    X(CORRUPT, 3, "damaged data")                                                                  \
    X(STALE, 3, "shard changed since it was indexed")                                              \
    X(MISMATCH, 3, "does not fit")                                                                 \
    X(FEATURE, 3, "feature is not as asked")                                                       \
    X(UNSUPPORTED, 3, "unsupported format")                                                        \
    X(IO, 4, "input/output error")                                                                 \
    X(NO_MEMORY, 4, "out of memory")                                                               \
    X(CANCELLED, 4, "cancelled")                                                                   \
    X(NO_COLUMN, 2, "no such column")

/* Every function that can fail returns one of these. The values never change their meaning. */
typedef enum recmap_status {
#define RECMAP_STATUS_ENUM(name, exit_status, text) RECMAP_##name,
    RECMAP_STATUSES(RECMAP_STATUS_ENUM)
#undef RECMAP_STATUS_ENUM
} recmap_status;

#define RECMAP_NO_RECORD UINT64_MAX
#define RECMAP_NO_OFFSET UINT64_MAX

/* What went wrong, and where. The caller owns the struct. It contains no pointers, so there is
 * nothing to free. It is written only when a function fails: initialise it once with
 * RECMAP_ERROR_INIT and pass it to any number of calls. Every function accepts NULL instead. */
typedef struct recmap_error {
    recmap_status status;
    int system_errno;   /* errno for RECMAP_IO and RECMAP_NO_MEMORY; ENOENT with RECMAP_INVALID if a
                           named shard does not exist; else 0 */
    uint64_t record;    /* record number in the data set, or RECMAP_NO_RECORD */
    uint64_t offset;    /* byte in the file at `path`, or RECMAP_NO_OFFSET; for a record in a
                           compressed shard, byte in the inflated shard; without `path`, byte in
                           the record (parser.h, example.h) or text (example_builder.h) given */
    char path[4096];    /* the file, or "" */
    char message[1024]; /* what was found and what was expected; one line, no full stop */
    char advice[512];   /* what to do next; one line, or "" */
    uint64_t reserved[4]; /* 0; room for later versions */
} recmap_error;

#define RECMAP_ERROR_INIT                                                                          \
    {                                                                                              \
        RECMAP_OK, 0, RECMAP_NO_RECORD, RECMAP_NO_OFFSET, "", "", "", {                            \
            0                                                                                      \
        }                                                                                          \
    }

/* The version of the library at run time, for example "0.2.0". */
RECMAP_API const char *recmap_version(void);

/* The name ("CORRUPT") and the text ("damaged data") of a status. Static strings; "?" for unknown
 * values. */
RECMAP_API const char *recmap_status_name(recmap_status status);
RECMAP_API const char *recmap_status_text(recmap_status status);

/* The exit status of the `recmap` command for a status: 0 success, 1 negative answer, 2 wrong
 * usage, 3 the data or the index is damaged or does not match, 4 the system failed. */
RECMAP_API int recmap_status_exit(recmap_status status);

/* Writes `recmap: PATH: record N at byte B: MESSAGE` and, on a second line, the advice indented by
 * two spaces. Unknown parts are left out. Returns recmap_status_exit(error->status), so that a main
 * function can end with `return recmap_error_print(&error, stderr);`. */
RECMAP_API int recmap_error_print(const recmap_error *error, FILE *stream);

/* Writes the same one or two lines to a buffer, truncated to `capacity` bytes including the NUL.
 * Returns the length of the complete text, as snprintf does. */
RECMAP_API size_t recmap_error_format(char *text, size_t capacity, const recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
