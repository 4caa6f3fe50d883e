/* Caches of remote objects on the local disk: what is in one, and clearing it. A data set uses a
 * cache if recmap_dataset_options.cache names its folder (dataset.h). */
#ifndef RECMAP_CACHE_H
#define RECMAP_CACHE_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One version of an object. The strings are valid during the callback. */
typedef struct recmap_cache_object {
    const char *url;
    const char *etag;
    uint64_t size;        /* of the object */
    uint64_t cached_size; /* how many of its bytes are in the cache */
    int64_t used_ns;      /* when a data set used it last, in ns since 1970 */
} recmap_cache_object;

/* Called with each object. A result other than 0 ends the visit. */
typedef int (*recmap_cache_fn)(void *context, const recmap_cache_object *object);

/* Visits the objects of a cache, in unspecified order. A folder without any is not an error.
 * Processes may use the cache at the same time. Errors: IO, NO_MEMORY; CANCELLED if the function
 * ended the visit. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_cache_visit(const char *folder,
                                                             recmap_cache_fn function,
                                                             void *context, recmap_error *error);

/* Removes all objects. `size` is set to the number of bytes that were freed. Other files in the
 * folder are kept. Errors: IO (the folder is not a cache, or a process uses it), NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_cache_clear(uint64_t *size, const char *folder,
                                                             recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
