/* How a long call is interrupted. */
#ifndef RECMAP_INTERRUPT_H
#define RECMAP_INTERRUPT_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns nonzero to stop the call that runs it, and then in the rest of that call, too. Runs on
 * the thread of the call. */
typedef int (*recmap_interrupt_fn)(void *context);

/* Makes calls of this thread that wait for a remote store run `function` about twenty times a
 * second, and stop with CANCELLED when it returns nonzero: recmap_shards_add,
 * recmap_dataset_get, recmap_dataset_gather and so on. So do the functions that list shards, build
 * or verify an index or create orders and counts, those that read a whole column of the index or
 * list the pieces of rows, and calls that read a grouped order while they place the batches of an
 * epoch: for tens of millions of records each takes seconds. NULL, the default:
 * they run nothing, and requests are repeated until the storage's timeout. During a call with an
 * interrupt or progress function of its own (recmap_batch_set_interrupt,
 * recmap_index_options.progress, recmap_verify_options.progress), that function is run instead.
 * Calls of the library within any of these functions run none. A writer runs none either: stopped,
 * it would lose what was written. */
RECMAP_API void recmap_thread_set_interrupt(recmap_interrupt_fn function, void *context);

#ifdef __cplusplus
}
#endif
#endif
