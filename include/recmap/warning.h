/* Warnings: what the caller should know although the call succeeds, such as that a file system
 * refuses to map files, so that they are read. */
#ifndef RECMAP_WARNING_H
#define RECMAP_WARNING_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives a warning, which is valid during the call. Any thread may call it, but never while it
 * holds a lock of the library. It must not call the library. */
typedef void (*recmap_warn_fn)(const recmap_error *warning, void *context);

/* Sets the function for the process; NULL, the default, ignores warnings. Call it before other
 * threads use the library. */
RECMAP_API void recmap_set_warn(recmap_warn_fn function, void *context);

#ifdef __cplusplus
}
#endif
#endif
