/* Status codes and the error struct that every fallible function fills. */
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
#define RECMAP_VERSION_MINOR 1
#define RECMAP_VERSION_PATCH 0
#define RECMAP_VERSION "0.1.0"

/* X(name, exit status of the command line, text) */
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
    X(CANCELLED, 4, "cancelled")

/* Every fallible function returns one of these. Values never change their meaning. */
typedef enum recmap_status {
#define RECMAP_STATUS_ENUM(name, exit_status, text) RECMAP_##name,
    RECMAP_STATUSES(RECMAP_STATUS_ENUM)
#undef RECMAP_STATUS_ENUM
} recmap_status;

#define RECMAP_NO_RECORD UINT64_MAX
#define RECMAP_NO_OFFSET UINT64_MAX

/* What went wrong, and where. The caller owns it; it holds no pointers and is never allocated, so
 * there is nothing to free. It is written only when a function fails: initialise it once with
 * RECMAP_ERROR_INIT and pass it to any number of calls. Every function takes NULL for it too. */
typedef struct recmap_error {
    recmap_status status;
    int system_errno; /* errno behind RECMAP_IO and RECMAP_NO_MEMORY; ENOENT with RECMAP_INVALID
                         where shards are named that are not there; else 0 */
    uint64_t record;  /* record number in the data set, or RECMAP_NO_RECORD */
    uint64_t offset; /* byte in the file at `path`, or RECMAP_NO_OFFSET; of a record in a compressed
                        shard, in what it inflates to */
    char path[4096]; /* the file, or "" */
    char message[1024]; /* what was found, and what was expected; one line, no full stop */
    char advice[512];   /* what to do; one line, or "" */
} recmap_error;

#define RECMAP_ERROR_INIT                                                                          \
    { RECMAP_OK, 0, RECMAP_NO_RECORD, RECMAP_NO_OFFSET, "", "", "" }

/* The version of the library at run time, as "0.1.0". */
RECMAP_API const char *recmap_version(void);

/* "CORRUPT" for RECMAP_CORRUPT, and "damaged data". Static strings; "?" for unknown values. */
RECMAP_API const char *recmap_status_name(recmap_status status);
RECMAP_API const char *recmap_status_text(recmap_status status);

/* The exit status of the `recmap` command for a status: 0 done, 1 the answer is no, 2 wrong usage,
 * 3 the data or the index is bad or does not fit, 4 the system failed. */
RECMAP_API int recmap_status_exit(recmap_status status);

/* Writes `recmap: PATH: record N at byte B: MESSAGE` and, on a second line, the advice indented by
 * two spaces. Parts that are unknown are left out. Returns recmap_status_exit(error->status), so
 * that `return recmap_error_print(&error, stderr);` ends a main function. */
RECMAP_API int recmap_error_print(const recmap_error *error, FILE *stream);

/* The same two lines (or one) into a buffer, cut to `capacity` bytes with their NUL. Returns the
 * length of the whole text, as snprintf does. */
RECMAP_API size_t recmap_error_format(char *text, size_t capacity, const recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
