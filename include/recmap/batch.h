/* A batch: the records of one gather, in the requested order. */
#ifndef RECMAP_BATCH_H
#define RECMAP_BATCH_H

#include <recmap/columns.h>
#include <recmap/interrupt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reuses its memory from gather to gather. A batch belongs to one thread at a time. */
typedef struct recmap_batch recmap_batch;

/* Creates an empty batch, which the caller destroys. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_batch_create(recmap_batch **batch,
                                                              recmap_error *error);

/* Releases the records of the batch and frees it. NULL may be destroyed. Destroy a batch before you
 * close the data set that filled it. */
RECMAP_API void recmap_batch_destroy(recmap_batch *batch);

/* Releases the records of the batch and keeps its memory for the next gather. */
RECMAP_API void recmap_batch_clear(recmap_batch *batch);

/* Makes calls that fill the batch run `function` at least every few hundred records, and
 * stop with CANCELLED and an empty batch when it returns nonzero. NULL, the default: they run
 * nothing. */
RECMAP_API void recmap_batch_set_interrupt(recmap_batch *batch, recmap_interrupt_fn function,
                                           void *context);

/* How many threads fill the batch in later calls of recmap_dataset_gather,
 * recmap_dataset_read and recmap_dataset_parse. 1, as at first: only the calling thread. 0:
 * one per core for at least 1,024 records or about 1 MiB, else only the calling thread. At most
 * 256, and one per record, are used. The other threads help all batches of the process, and stay
 * between calls. Records, columns and errors are the same for any number; the batch keeps
 * additional memory as large as what was parsed, and at most 32 MiB of bytes that were read. */
RECMAP_API void recmap_batch_set_threads(recmap_batch *batch, unsigned thread_count);

/* What random images (image.h) and recmap_batch_seeds depend on, besides the record's number. */
typedef struct recmap_draws {
    uint64_t seed;
    uint64_t epoch;
    const uint64_t *positions; /* in the epoch, of each record; NULL: they are not known */
    const uint64_t *numbers; /* of each record, instead of its own number, as in a join; or NULL */
    int repeats;             /* not 0: positions count, because the order may hold a record twice in
                                an epoch (recmap_order_repeats) */
} recmap_draws;

/* Sets the draws of the records that are read into the batch from now on, and the seed of the draws
 * of rows (rows.h). NULL, as at first: none, so that a parser with random images is INVALID. The
 * arrays are borrowed until the next call, and copied when records are read. A loader gives its
 * batches draws. */
RECMAP_API void recmap_batch_set_draws(recmap_batch *batch, const recmap_draws *draws);

/* Returns 1 if the records or rows of the batch were read with draws. */
RECMAP_API int recmap_batch_has_draws(const recmap_batch *batch);

/* The epoch of the batch's draws, and the position in it of each record or row. NULL and 0 without
 * draws; NULL if the positions are not known. */
RECMAP_API const uint64_t *recmap_batch_positions(const recmap_batch *batch);
RECMAP_API uint64_t recmap_batch_epoch(const recmap_batch *batch);

/* The step of a batch that a loader gave, counted from 0 over the epochs of the loader's present
 * run (loader.h); RECMAP_NO_STEP of other batches. */
#define RECMAP_NO_STEP UINT64_MAX
RECMAP_API uint64_t recmap_batch_step(const recmap_batch *batch);

/* Sets `seeds` to a random number for each record or row of the batch, for augmentations that are
 * then the same after any resume: a function of the seed of its draws (a loader's draw_seed), the
 * epoch, the number of the record or row and `name`, and of the position if the order may hold it
 * twice in an epoch. The name "" or NULL is one as well. docs/formats/images.md specifies it.
 * Errors: INVALID without draws. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_batch_seeds(uint64_t *seeds,
                                                             const recmap_batch *batch,
                                                             const char *name, recmap_error *error);

/* The records, as an array, and their number. They are valid until the batch is filled again,
 * cleared or destroyed. Do not release them one by one. In a batch of rows, the `data` of a long
 * record can be NULL: see recmap_dataset_rows. */
RECMAP_API const recmap_record *recmap_batch_records(const recmap_batch *batch);
RECMAP_API size_t recmap_batch_count(const recmap_batch *batch);

/* The columns into which the records were parsed; row i is record i. NULL if they were not parsed.
 * The columns belong to the batch and are valid as long as its records; arrays exported from them
 * live on by themselves, except for views into the records. */
RECMAP_API recmap_columns *recmap_batch_columns(const recmap_batch *batch);

#ifdef __cplusplus
}
#endif
#endif
