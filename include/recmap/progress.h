/* Progress of a long operation, and the way to stop it. */
#ifndef RECMAP_PROGRESS_H
#define RECMAP_PROGRESS_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recmap_progress {
    uint64_t bytes_done;
    uint64_t bytes_total;
    uint64_t record_count; /* records passed so far */
    const char *path;      /* the shard at hand */
} recmap_progress;

/* Called on the thread that called the operation, about twenty times a second. Returning anything
 * but 0 stops the operation: it cleans up and returns RECMAP_CANCELLED. */
typedef int (*recmap_progress_fn)(void *context, const recmap_progress *progress);

#ifdef __cplusplus
}
#endif
#endif
