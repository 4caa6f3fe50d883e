/* How a long call is interrupted. */
#ifndef RECMAP_INTERRUPT_H
#define RECMAP_INTERRUPT_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns nonzero to stop the call that runs it; once it has, it must return nonzero until that
 * call returns. Runs on the thread of the call. */
typedef int (*recmap_interrupt_fn)(void *context);

/* Makes calls of this thread that wait for a remote store run `function` about twenty times a
 * second, and stop with CANCELLED when it returns nonzero: recmap_shards_add, recmap_dataset_get,
 * recmap_dataset_gather and so on. The same holds for calls that take seconds with tens of millions
 * of records: those that list shards, build or verify an index, create orders or counts, read a
 * whole column of the index or list the pieces of rows, and those that read a grouped order while
 * they place the batches of an epoch.
 *
 * With NULL, the default, these calls run nothing, and requests are repeated until the storage's
 * timeout. A call with an interrupt or progress function of its own (recmap_batch_set_interrupt,
 * recmap_index_options.progress, recmap_verify_options.progress) runs that function instead. Calls
 * of the library from within any of these functions run none. A writer runs none either: if it were
 * stopped, what was written would be lost. */
RECMAP_API void recmap_thread_set_interrupt(recmap_interrupt_fn function, void *context);

#ifdef __cplusplus
}
#endif
#endif
