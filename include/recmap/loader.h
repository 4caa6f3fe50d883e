/* A loader: the batches of one rank, in order, read ahead by threads of its own.
 *
 *     while (recmap_loader_next(&batch, loader, &error) == RECMAP_OK && batch) ...    one epoch
 *
 * It knows which records come next, so it reads them before they are asked for; what it says of
 * where it stands is only what the caller has taken.
 *
 * How it reads is the data set's access. With MAP and READ records come through the page cache,
 * which keeps for the next epoch what fits into memory; the kernel is asked for them ahead of use.
 * With DIRECT they come past it, from the device each time, into memory of the batches: for data
 * much larger than memory, for large records above all, and to leave the cache to others. That
 * takes io_uring and a file system with O_DIRECT. Without one of them (many containers forbid
 * io_uring), for batches with records of compressed shards, and with RECMAP_READAHEAD_OFF, DIRECT
 * is READ. */
#ifndef RECMAP_LOADER_H
#define RECMAP_LOADER_H

#include <recmap/batch.h>
#include <recmap/dataset.h>
#include <recmap/order.h>
#include <recmap/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to do about a record whose check fails (RECMAP_CORRUPT), or that the parser cannot read
 * (CORRUPT, FEATURE). Every other error is raised: a file that cannot be read, or is not the one
 * that was indexed, is no matter of one record. */
typedef enum recmap_bad_record {
    RECMAP_BAD_RECORD_RAISE = 0,
    RECMAP_BAD_RECORD_SKIP = 1,       /* its batch goes without it */
    RECMAP_BAD_RECORD_SUBSTITUTE = 2, /* the next good record of the epoch stands in for it too */
} recmap_bad_record;

/* Whether the kernel is asked for records before they are read. */
typedef enum recmap_readahead {
    RECMAP_READAHEAD_AUTO = 0, /* as long as records turn out not to be in memory */
    RECMAP_READAHEAD_OFF = 1,
    RECMAP_READAHEAD_ON = 2,
} recmap_readahead;

typedef struct recmap_loader_options {
    uint32_t version;    /* RECMAP_LOADER_OPTIONS_VERSION */
    uint32_t rank;       /* 0 to world_size - 1 */
    uint32_t world_size; /* ranks */
    recmap_last last;
    uint64_t batch_size;    /* records a rank and step; ignored where the order makes its own */
    unsigned thread_count;  /* 0: one a core that this process may use */
    unsigned batches_ahead; /* most batches that are ready before they are asked for; 0: two a
                               thread, but at least four and 1,024 records */
    recmap_bad_record bad_record;
    recmap_readahead readahead;
    recmap_parser *parser; /* the threads parse each batch with it (recmap_batch_columns); NULL:
                              records only. It is retained */
} recmap_loader_options;

enum { RECMAP_LOADER_BATCHES_AHEAD_MAX = 65536, RECMAP_LOADER_THREADS_MAX = 4096 };

#define RECMAP_LOADER_OPTIONS_VERSION 1
#define RECMAP_LOADER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        RECMAP_LOADER_OPTIONS_VERSION, 0, 1, RECMAP_LAST_KEEP, 1, 0, 0, RECMAP_BAD_RECORD_RAISE,   \
            RECMAP_READAHEAD_AUTO, NULL                                                            \
    }

/* Threads: a loader belongs to one thread at a time; recmap_loader_get_statistics and
 * recmap_loader_get_skipped may be called from any.
 * Fork: in a child every call fails with INVALID once the parent has called recmap_loader_next,
 * since threads do not come along; destroying it there does nothing. A child makes its own. */
typedef struct recmap_loader recmap_loader;

/* A loader at the start of epoch 0. The order is retained; the data set must outlive the loader.
 * Nothing is read and no thread runs before the first recmap_loader_next. NULL options are the
 * defaults: batches of one record.
 * Errors: INVALID for options out of range, or an order with numbers that the data set does not
 * have; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_create(recmap_loader **loader,
                                                               recmap_dataset *dataset,
                                                               recmap_order *order,
                                                               const recmap_loader_options *options,
                                                               recmap_error *error);

/* Stops the threads, at the end of the batches at hand, and frees the loader. Batches that were
 * taken stay. NULL may be destroyed. */
RECMAP_API void recmap_loader_destroy(recmap_loader *loader);

/* The next batch of this rank, or NULL at the end of the epoch: the call after that begins the
 * next. A rank for which a step has no record gets an empty batch.
 *
 * `*batch` comes in as NULL, or as a batch that is given back: its records end and its memory is
 * used again. The caller owns what it gets and destroys what it does not give back, before the data
 * set is closed.
 * Errors: as recmap_dataset_gather or, with a parser, recmap_dataset_parse, at the place of the
 * first batch that has one. `*batch` is then untouched, the loader stands before that batch, and
 * the next call tries again. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_next(recmap_batch **batch,
                                                             recmap_loader *loader,
                                                             recmap_error *error);

/* Waits until recmap_loader_next would not wait, but no longer than `timeout_ns`: for a caller that
 * has to look at something else now and then, as at signals. `is_ready` is 0 when the time was over
 * first. What is ready may be an error, which recmap_loader_next then raises.
 * Errors: INVALID in a child; else those of beginning to read. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_wait(int *is_ready, recmap_loader *loader,
                                                             uint64_t timeout_ns,
                                                             recmap_error *error);

/* Where the loader stands: behind what was taken. After the last step of an epoch, whatever `last`
 * is, that is the start of the next. Errors: INVALID in a child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_tell(uint64_t *epoch, uint64_t *position,
                                                             const recmap_loader *loader,
                                                             recmap_error *error);

/* Steps from here to the end of the epoch. Errors: INVALID in a child; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_steps_left(uint64_t *step_count,
                                                                   const recmap_loader *loader,
                                                                   recmap_error *error);

/* The same place as a state, the same on every rank after the same number of steps. The caller
 * destroys it. Errors: INVALID in a child, or behind epoch RECMAP_STATE_NUMBER_MAX; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_save(recmap_state **state,
                                                             const recmap_loader *loader,
                                                             recmap_error *error);

/* Goes on from a state, whatever ranks and batches it was saved with. After an error the loader is
 * where it was. Cost: the same at every position.
 * Errors: MISMATCH for a state of another data set or order, naming what differs; INVALID in a
 * child; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_load(recmap_loader *loader,
                                                             const recmap_state *state,
                                                             recmap_error *error);

/* Goes on from a position, 0 to the order's count, of an epoch up to RECMAP_STATE_NUMBER_MAX.
 * Errors: INVALID out of range or in a child; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_seek(recmap_loader *loader, uint64_t epoch,
                                                             uint64_t position,
                                                             recmap_error *error);

/* Goes on from the place at which a record comes in an epoch. Errors: as recmap_order_position_of
 * and recmap_loader_seek. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_seek_record(recmap_loader *loader,
                                                                    uint64_t epoch, uint64_t number,
                                                                    recmap_error *error);

/* Since the loader was made; of batches, those that were taken. */
typedef struct recmap_loader_statistics {
    uint64_t batch_count;
    uint64_t record_count;
    uint64_t byte_count;        /* of payloads */
    uint64_t caller_wait_ns;    /* recmap_loader_next waited for a batch to be ready */
    uint64_t worker_wait_ns;    /* workers waited for room, all threads together */
    uint64_t skipped_count;     /* records that were bad: left out or replaced */
    uint64_t readahead_count;   /* records that the kernel was asked for */
    uint64_t readahead_records; /* how far ahead, as it is now */
    unsigned thread_count;      /* 0 before the first batch was asked for */
    unsigned batches_ready;     /* now */
} recmap_loader_statistics;

/* Errors: INVALID in a child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_get_statistics(
    recmap_loader_statistics *statistics, recmap_loader *loader, recmap_error *error);

/* A bad record that was left out or replaced. */
typedef struct recmap_skipped {
    uint64_t epoch;
    uint64_t position;   /* in the epoch */
    uint64_t number;     /* of the record */
    uint64_t substitute; /* the record in its place, or RECMAP_NO_RECORD */
} recmap_skipped;

/* The first so many are kept. */
enum { RECMAP_LOADER_SKIPPED_MAX = 1024 };

/* Copies those from `first` on: up to `capacity`; `count` is how many were. Errors: INVALID in a
 * child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_get_skipped(recmap_skipped *skipped,
                                                                    size_t capacity, size_t *count,
                                                                    recmap_loader *loader,
                                                                    size_t first,
                                                                    recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
