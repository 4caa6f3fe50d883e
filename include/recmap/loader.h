/* A loader: the batches of one rank, in order, prepared ahead of time by its own threads.
 *
 *     while (recmap_loader_next(&batch, loader, &error) == RECMAP_OK && batch) ...    one epoch
 *
 * The loader knows which records come next and reads them before they are requested. The position
 * that it reports counts only the batches that the caller has taken.
 *
 * How it reads depends on the data set's access mode. With MAP and READ, records are read through
 * the page cache, which keeps as much as fits into memory for the next epoch; the kernel is asked
 * to read records ahead of use. With DIRECT, records are read from the device each time, bypassing
 * the page cache, into memory of the batches. This suits data much larger than memory, large
 * records in particular, and leaves the page cache to other programs. DIRECT requires io_uring and
 * a file system with O_DIRECT. Without them (many containers forbid io_uring), for batches with
 * records of compressed shards, and with RECMAP_READAHEAD_OFF, DIRECT is the same as READ.
 *
 * With a row order (rows.h), a batch holds rows instead of records, as recmap_dataset_rows reads
 * them: batch_size counts rows, the parser has SLICED features, and recmap_batch_pieces says what
 * is in each row. The order's next epoch is prepared ahead of time. DIRECT is then the same as
 * READ. */
#ifndef RECMAP_LOADER_H
#define RECMAP_LOADER_H

#include <recmap/batch.h>
#include <recmap/dataset.h>
#include <recmap/order.h>
#include <recmap/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When the kernel is asked to read records before they are used. */
typedef enum recmap_readahead {
    RECMAP_READAHEAD_AUTO = 0, /* as long as records are found not to be in memory */
    RECMAP_READAHEAD_OFF = 1,
    RECMAP_READAHEAD_ON = 2,
} recmap_readahead;

/* Reading what the rest of the epoch needs in the order of the shards, ahead of the batches, to
 * where random reads find it: see warm.h. Threads of the lowest priority do it, for this rank's
 * share of each epoch in turn, until everything is there. It ends with the loader, and when memory
 * or the cache has no room for more. An error only ends warming. */
typedef enum recmap_warm {
    RECMAP_WARM_OFF = 0,
    RECMAP_WARM_ON = 1,
    /* Begins only after the loader has waited for the disk for a second, with random reads; if all
     * shards are plain files on a disk of this machine, not on a network or a layer over other file
     * systems; if the rest of the epoch fits into memory, beside what processes have mapped; and in
     * one process of the machine at a time, which holds a lock (flock) on the first shard. */
    RECMAP_WARM_AUTO = 2,
} recmap_warm;

typedef struct recmap_loader_options {
    uint32_t version;    /* RECMAP_LOADER_OPTIONS_VERSION */
    uint32_t rank;       /* 0 to world_size - 1 */
    uint32_t world_size; /* number of ranks */
    recmap_last last;
    uint64_t batch_size; /* records per rank and step; ignored if the order makes its own batches */
    unsigned thread_count; /* 0: one per core that this process may use */
    /* Upper bound on the batches prepared ahead of the caller; 0: two per thread, but at least four
     * and 1,024 records. In any case, no more batches are decoded ahead (image.h) than have 64
     * MiB of pixels if all are as large as the largest one so far, but always two. The records of
     * the others are only read. */
    unsigned batches_ahead;
    recmap_on_bad_record on_bad_record;
    recmap_readahead readahead;
    recmap_parser *parser; /* the threads parse each batch with it (recmap_batch_columns); NULL:
                              records only. It is retained */
    /* Batches of this epoch and of later ones are not read ahead, only when the caller waits for
     * them; 0: all are read ahead. */
    uint64_t batches_ahead_epoch_limit;
    uint64_t draw_seed;         /* of random images (image.h) and of recmap_batch_seeds */
    recmap_order *draw_order;   /* at each position, the number that draws depend on instead of the
                                   record's, as of the first data set of a join; NULL: the
                                   record's. It is retained. It covers as many positions as the
                                   loader's order. In an epoch of old records, which
                                   recmap_loader_load_grown finishes, it has no effect */
    recmap_allocator allocator; /* of the memory of columns; {NULL}: the library's own, which is
                                   reused from batch to batch */
    recmap_warm warm;
} recmap_loader_options;

enum { RECMAP_LOADER_BATCHES_AHEAD_MAX = 65536, RECMAP_LOADER_THREADS_MAX = 4096 };

#define RECMAP_LOADER_OPTIONS_VERSION 5
#define RECMAP_LOADER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        RECMAP_LOADER_OPTIONS_VERSION, 0, 1, RECMAP_LAST_KEEP, 1, 0, 0,                            \
            RECMAP_ON_BAD_RECORD_ERROR, RECMAP_READAHEAD_AUTO, NULL, 0, 0, NULL,                   \
            {NULL, NULL, NULL}, RECMAP_WARM_OFF                                                    \
    }

/* Threads: a loader belongs to one thread at a time, but any thread may call
 * recmap_loader_get_statistics and recmap_loader_get_skipped. Fork: once the parent has called
 * recmap_loader_next, every call on the loader fails with INVALID in a child, because its threads
 * do not exist there. Destroying it in the child does nothing. A child creates its own loader. */
typedef struct recmap_loader recmap_loader;

/* Creates a loader at the start of epoch 0, which the caller destroys. The order is retained; the
 * data set must outlive the loader. Nothing is read and no thread is started before the first
 * recmap_loader_next. NULL options are the defaults: batches of one record. The allocator's context
 * must outlive the loader and the columns of its batches, which release their memory when the batch
 * is given back, cleared, destroyed or filled again. An order that covers fewer records than the
 * data set is accepted, and the loader never reads the others: callers that want all records
 * compare the counts themselves (recmap.Loader in Python refuses such an order unless it is a
 * selection). Errors: INVALID for options out of range, an order with numbers that the data set
 * does not have, or a parser that does not fit a row order (recmap_dataset_rows); NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_create(recmap_loader **loader,
                                                               recmap_dataset *dataset,
                                                               recmap_order *order,
                                                               const recmap_loader_options *options,
                                                               recmap_error *error);

/* Stops the threads and discards the batches that were filled ahead. The position stays; the next
 * recmap_loader_next starts the threads again. Errors: INVALID in a child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_stop(recmap_loader *loader,
                                                             recmap_error *error);

/* Stops the threads, which first complete the batches that they are working on, and frees the
 * loader. Batches that the caller has taken stay valid. NULL may be destroyed. */
RECMAP_API void recmap_loader_destroy(recmap_loader *loader);

/* Returns the next batch of this rank, or NULL at the end of the epoch; the following call begins
 * the next epoch. A rank that has no record in a step gets an empty batch.
 *
 * On entry, `*batch` is NULL or a batch to give back, whose records are released and whose memory
 * is reused. The caller owns the returned batch and must give it back or destroy it before the data
 * set is closed.
 *
 * Errors: as recmap_dataset_gather or, with a parser, recmap_dataset_parse, at the place of the
 * first batch that has one. `*batch` is then unchanged, the loader stays before that batch, and the
 * next call tries again. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_next(recmap_batch **batch,
                                                             recmap_loader *loader,
                                                             recmap_error *error);

/* Waits until recmap_loader_next would not block, but at most `timeout_ns`, for callers that must
 * also check something else from time to time, such as signals. `is_ready` is 0 on a timeout. A
 * pending error, which recmap_loader_next will return, also counts as ready. Errors: INVALID in a
 * child; else as when reading starts. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_wait(int *is_ready, recmap_loader *loader,
                                                             uint64_t timeout_ns,
                                                             recmap_error *error);

/* The loader's position: after the batches that were taken. After the last step of an epoch,
 * whatever `last` is, it is the start of the next epoch. Errors: INVALID in a child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_tell(uint64_t *epoch, uint64_t *position,
                                                             const recmap_loader *loader,
                                                             recmap_error *error);

/* Finds a step of the present run: sets `deal` to the deal of its epoch, and `index` to the
 * number of the step in it. recmap_deal_share and recmap_deal_numbers then give the records of each
 * rank. A run begins at the start of epoch 0, or where the loader was moved by seek or load, and
 * its steps are counted from 0 over all epochs, as recmap_batch_step has them. A state holds no
 * step. Errors: as recmap_deal_find_step; INVALID in a child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_find_step(recmap_deal *deal,
                                                                  uint64_t *index,
                                                                  const recmap_loader *loader,
                                                                  uint64_t step,
                                                                  recmap_error *error);

/* The number of steps from the current position to the end of the epoch. Errors: INVALID in a
 * child; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_steps_left(uint64_t *step_count,
                                                                   const recmap_loader *loader,
                                                                   recmap_error *error);

/* Saves the position as a state, which the caller destroys. It is the same on every rank after the
 * same number of steps. Errors: INVALID in a child, or past epoch RECMAP_STATE_NUMBER_MAX;
 * NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_save(recmap_state **state,
                                                             const recmap_loader *loader,
                                                             recmap_error *error);

/* Moves to the position of a state, whatever ranks and batches it was saved with. After an error
 * the loader stays where it was. Cost: the same for every position. Errors: MISMATCH for a state of
 * another data set or order, naming what differs; INVALID in a child; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_load(recmap_loader *loader,
                                                             const recmap_state *state,
                                                             recmap_error *error);

/* The same, but the loader's order may also be a mixture that continues the state's mixture: see
 * recmap_state_check_continued. Errors: as recmap_loader_load. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_load_continued(recmap_loader *loader,
                                                                       const recmap_state *state,
                                                                       recmap_error *error);

/* The same, but the data set may have grown since the state was saved: it begins with the state's
 * records. The loader then finishes the state's epoch over those records, and continues with its
 * own order. `old_order` is the state's order: created like the loader's, over as many records as
 * the state has. It is retained, and not used if neither the data set nor the loader's order has
 * grown, or if nothing of the epoch was consumed. Until the epoch ends, the loader saves states of
 * the old records, and seeks in the old order within this epoch and earlier ones. Errors: as
 * recmap_loader_load. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_load_grown(recmap_loader *loader,
                                                                   const recmap_state *state,
                                                                   recmap_order *old_order,
                                                                   recmap_error *error);

/* Moves to a position, 0 to the order's count, of an epoch up to RECMAP_STATE_NUMBER_MAX. Errors:
 * INVALID if out of range or in a child; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_seek(recmap_loader *loader, uint64_t epoch,
                                                             uint64_t position,
                                                             recmap_error *error);

/* The same, but within the present run, whose steps continue to be counted from its beginning: for
 * callers that return to a position where the loader has been. A position before the beginning of
 * the run begins another one. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_return(recmap_loader *loader,
                                                               uint64_t epoch, uint64_t position,
                                                               recmap_error *error);

/* Moves to the position of a record in an epoch. Errors: as recmap_order_position_of and
 * recmap_loader_seek. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_seek_record(recmap_loader *loader,
                                                                    uint64_t epoch, uint64_t number,
                                                                    recmap_error *error);

/* How warming is going. */
typedef enum recmap_warm_state {
    RECMAP_WARM_STATE_OFF = 0,     /* it was not asked for, or not needed yet */
    RECMAP_WARM_STATE_WAITING = 1, /* it stopped with the loader, or before the loader moved */
    RECMAP_WARM_STATE_RUNNING = 2,
    RECMAP_WARM_STATE_COMPLETE = 3, /* it ended: everything that the epoch needs is there */
    RECMAP_WARM_STATE_MEMORY = 4,   /* it ended, or did not begin: memory has no room */
    RECMAP_WARM_STATE_CACHE = 5,    /* it ended: the cache on the disk is full or fails */
    RECMAP_WARM_STATE_FAILED = 6,   /* it ended: something could not be read, or is remote and
                                       there is no cache on the disk */
    /* With RECMAP_WARM_AUTO, it did not begin because */
    RECMAP_WARM_STATE_UNSUITABLE = 7, /* shards are compressed, or not on a disk of this machine */
    RECMAP_WARM_STATE_OTHER = 8,      /* another process warms these shards */
    RECMAP_WARM_STATE_SEQUENTIAL = 9, /* records are read in order, so it would not help */
} recmap_warm_state;

/* Counted since the loader was created. Batches, records and bytes are those that the caller took.
 */
typedef struct recmap_loader_statistics {
    uint64_t batch_count;
    uint64_t record_count;
    uint64_t byte_count;          /* of payloads */
    uint64_t caller_wait_ns;      /* time that recmap_loader_next waited for a batch */
    uint64_t worker_wait_ns;      /* time that workers waited for room, summed over all threads */
    uint64_t fill_ns;             /* time that workers read, checked and parsed, over all threads */
    uint64_t parse_ns;            /* the part of it that parsing took; 0 for rows, which are decoded
                                     while they are read */
    uint64_t decode_ns;           /* the part of that which decoding pictures took (image.h) */
    uint64_t decoded_count;       /* pictures decoded, also of records that were then left out */
    uint64_t decode_failed_count; /* pictures that could not be decoded */
    uint64_t decode_warning_count; /* of the decoded ones, those in which the library of their
                                      format found faults that leave no pixels out */
    uint64_t skipped_count;        /* bad records, left out or replaced */
    uint64_t readahead_count;      /* records that the kernel was asked to read ahead */
    uint64_t readahead_distance;   /* current read-ahead distance in records */
    unsigned thread_count;         /* 0 before the first batch was requested */
    unsigned batches_ready;        /* current number */
    recmap_warm_state warm_state;
    uint64_t warm_read_size;    /* bytes that were read or inflated to warm the shards */
    uint64_t warm_present_size; /* bytes that were there already, each time they were needed */
    uint64_t reserved[8];       /* 0; room for later versions */
} recmap_loader_statistics;

/* Reads the statistics. Threads: any. Errors: INVALID in a child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_get_statistics(
    recmap_loader_statistics *statistics, recmap_loader *loader, recmap_error *error);

/* What a loader spends its time on, or waits for. */
typedef enum recmap_cause {
    RECMAP_CAUSE_NOTHING = 0,   /* nobody waits for a batch */
    RECMAP_CAUSE_CALLER = 1,    /* batches are ready, and the caller does not take them */
    RECMAP_CAUSE_DISK = 2,      /* records come from files */
    RECMAP_CAUSE_STORE = 3,     /* records come from a remote store */
    RECMAP_CAUSE_INFLATING = 4, /* spans of compressed shards are inflated */
    RECMAP_CAUSE_PARSING = 5,   /* records are checked and parsed, also without enough CPU */
    RECMAP_CAUSE_IMAGES = 6,    /* pictures are decoded */
} recmap_cause;

enum { RECMAP_CAUSES = 7 };

/* What a loader waits for at a moment. */
typedef struct recmap_why {
    recmap_cause cause;     /* NOTHING or CALLER if recmap_loader_next is not waiting */
    recmap_cause work;      /* what the threads spend the time of the next batch on; NOTHING: they
                               do not work on it */
    int is_waiting;         /* recmap_loader_next waits for a batch */
    unsigned thread_count;  /* 0: reading has not begun */
    unsigned batches_begun; /* that threads have taken up, and the caller has not taken yet */
    unsigned batches_ready; /* of these */
    uint64_t cause_ns[16];  /* time of all threads since reading began, by cause; has room */
    int has_pending;        /* a request to a store, or a read of a file for which a thread
                               sleeps, is not answered: the oldest of them. Of mapped files, the
                               frame that is touched; of RECMAP_ACCESS_DIRECT, the first read
                               that the batch still needs. Not of pages of the index, nor of
                               files of the disk cache. */
    char name[256];         /* the URL, without what may be a secret, or the path */
    uint64_t first_byte;
    uint64_t last_byte;
    unsigned attempt;     /* from 1 */
    uint64_t pending_ns;  /* since it was begun; of a mapped file, since the thread began to read
                             the records of its batch; of RECMAP_ACCESS_DIRECT, since the thread
                             began to wait */
    char last_error[128]; /* why the attempt before failed; "" if there was none */
    uint64_t reserved[8]; /* 0; room for later versions */
} recmap_why;

/* Says what the loader waits for. Waits for no read, however long that takes, and touches neither
 * shards nor the index. Threads: any. Errors: INVALID in a child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_why(recmap_why *why, recmap_loader *loader,
                                                            recmap_error *error);

/* A bad record that was left out or replaced. */
typedef struct recmap_skipped {
    uint64_t epoch;
    uint64_t position;   /* in the epoch */
    uint64_t number;     /* of the record, or of the row that has a bad record */
    uint64_t substitute; /* the record or row that replaced it, or RECMAP_NO_RECORD */
} recmap_skipped;

/* The number of skipped records that are listed: the first ones. */
enum { RECMAP_LOADER_SKIPPED_MAX = 1024 };

/* Copies the skipped records from number `first` on, up to `capacity`, and sets `count` to how many
 * were copied. Threads: any. Errors: INVALID in a child. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_get_skipped(recmap_skipped *skipped,
                                                                    size_t capacity, size_t *count,
                                                                    recmap_loader *loader,
                                                                    size_t first,
                                                                    recmap_error *error);

/* What a whole epoch of one rank requests of remote shards, without a cache. */
typedef struct recmap_request_estimate {
    uint64_t request_count;
    uint64_t byte_count;      /* requested, with the gaps between records that share a request */
    uint64_t used_byte_count; /* of the records, with their framing */
    int is_exact;             /* all batches were counted; 0: some, and the others estimated */
    uint64_t reserved[4];     /* 0; room for later versions */
} recmap_request_estimate;

/* Counts the requests of the loader's epoch, by running the order and merging the records of each
 * batch as gathering does. No shard is read, and the loader does not move. All counts are 0 for a
 * local data set. Records of compressed shards are left out. If some shards are local, they are
 * counted as if they were remote. Errors: INVALID for a row order, or in a child; CORRUPT for a
 * damaged index; NO_MEMORY; CANCELLED. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_loader_estimate_requests(
    recmap_request_estimate *estimate, const recmap_loader *loader, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
