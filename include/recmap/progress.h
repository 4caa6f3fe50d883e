/* Progress of a long operation, and how to cancel it. */
#ifndef RECMAP_PROGRESS_H
#define RECMAP_PROGRESS_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recmap_progress {
    uint64_t bytes_done;
    uint64_t bytes_total;
    uint64_t record_count; /* records processed so far */
    const char *path;      /* the shard being processed */
    int is_waiting;        /* nothing is processed yet: another append to the index `path` runs, and
                              this one starts when that has finished */
} recmap_progress;

/* Called about twenty times a second, on the thread that called the operation. Return a value other
 * than 0 to cancel: the operation cleans up and returns RECMAP_CANCELLED. */
typedef int (*recmap_progress_fn)(const recmap_progress *progress, void *context);

#ifdef __cplusplus
}
#endif
#endif
