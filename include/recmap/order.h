/* An order: which record is at which position of an epoch, as a pure function.
 *
 * An epoch is `count` positions. Every position of every epoch can be computed directly, without
 * the preceding ones; orders that form batches or rows first compute a table of the epoch. The same
 * arguments give the same records in every process, on every machine and in every later version.
 * docs/formats/order.md specifies each kind, with test vectors. */
#ifndef RECMAP_ORDER_H
#define RECMAP_ORDER_H

#include <recmap/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable, with a reference count: release each order that you create or retain once. Threads:
 * every function may be called from many threads at once. Fork: a child may use it. */
typedef struct recmap_order recmap_order;

/* Adds a reference and returns `order`. */
RECMAP_API recmap_order *recmap_order_retain(recmap_order *order);
/* Drops a reference; the last one frees the order. NULL may be released. */
RECMAP_API void recmap_order_release(recmap_order *order);

/* The maximum number of records and of positions of an order: 2^62. */
#define RECMAP_ORDER_COUNT_MAX ((uint64_t)1 << 62)

/* How deep orders may be nested: a mixture or view is one level deeper than its deepest source or
 * base, and an order without them is at level 1. The description of an order, which is part of a
 * loader's state, has a maximum size; for a mixture or view, an upper estimate counts. */
enum { RECMAP_ORDER_DEPTH_MAX = 8 };
#define RECMAP_ORDER_DESCRIPTION_MAX ((size_t)4 << 20)

/* ---- Kinds. Each function creates an order, which the caller releases. Arrays are read and not
 * kept. Errors of all: INVALID for arguments out of range, and for mixtures and views that would be
 * nested too deep or have too long a description; NO_MEMORY. */

/* Record i is at position i. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_sequential(recmap_order **order, uint64_t n,
                                                                  recmap_error *error);

/* A different permutation of all records in each epoch. Uses no memory; 3 to 9 ns per position in
 * batches. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_shuffled(recmap_order **order, uint64_t n,
                                                                uint64_t seed, recmap_error *error);

/* Blocks of `block` records are shuffled; then, in each window of `window` blocks, all records are
 * shuffled. A reader is within one window at any time, so disks are read almost sequentially. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_windowed(recmap_order **order, uint64_t n,
                                                                uint64_t block, uint64_t window,
                                                                uint64_t seed, recmap_error *error);

/* `size` draws per epoch (0: n). Each draw takes every record with the same probability. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_with_replacement(recmap_order **order,
                                                                        uint64_t n, uint64_t seed,
                                                                        uint64_t size,
                                                                        recmap_error *error);

/* `size` draws per epoch (0: n). Each draw takes record i with probability weights[i] / sum.
 * Weights are rounded to 62 - log2(n) bits of the largest one. Records with weight 0 are never
 * drawn; any other record can be. Memory: 16 bytes per record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_weighted(recmap_order **order,
                                                                const double *weights, size_t n,
                                                                uint64_t seed, uint64_t size,
                                                                recmap_error *error);

/* When an epoch of a mixture ends. */
typedef enum recmap_stop {
    RECMAP_STOP_FIRST = 0, /* before any source would start again */
    RECMAP_STOP_LAST = 1,  /* when every source has been completed */
} recmap_stop;

enum { RECMAP_MIXTURE_SOURCES_MAX = 4096 };

/* Interleaves sources in proportion to their weights. Mixing is deterministic: of the first t
 * positions each source has its exact share of t, rounded up or down. Numbers continue from source
 * to source: the numbers of a source start at the sum of recmap_order_number_limit of the sources
 * before it. Each source iterates through its own epochs, which continue across the epochs of the
 * mixture. A source with weight 0 is left out. The sources are retained.
 *
 * Errors: also INVALID, naming the source, if a source is empty or its weight is negative, infinite
 * or not a number; if all weights are 0; and if an epoch would have more than 2^62 positions. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_order_mixture(recmap_order **order, recmap_order *const *sources, const double *weights,
                     size_t source_count, recmap_stop stop, recmap_error *error);

/* The weights of a mixture's sources from a position of the run on. Positions of a run are counted
 * over all epochs: position p of epoch e is number e * count + p. */
typedef struct recmap_mixture_change {
    uint64_t position;
    const double *weights; /* one per source; 0: not used from here on */
} recmap_mixture_change;

/* Up to 4,096 changes, the first weights included. */
enum { RECMAP_MIXTURE_CHANGES_MAX = 4096 };

typedef struct recmap_mixture_options {
    uint32_t version; /* RECMAP_MIXTURE_OPTIONS_VERSION */
    recmap_stop stop;
    uint64_t length; /* positions per epoch; 0: as `stop` says */
} recmap_mixture_options;

#define RECMAP_MIXTURE_OPTIONS_VERSION 1
#define RECMAP_MIXTURE_OPTIONS_INIT                                                                \
    { RECMAP_MIXTURE_OPTIONS_VERSION, RECMAP_STOP_FIRST, 0 }

/* As recmap_order_mixture, with weights that change at given positions of the run. Every source
 * continues where it was. Of the first t positions after a change, each source has its exact share
 * of t by the weights then, rounded up or down. `changes` ascend by position, and the first is at
 * position 0. NULL options are the defaults. Finding a position takes time in the logarithm of the
 * number of changes.
 *
 * To change the weights of a run that has started, or to add sources to it, create its order again
 * with one more change, the new sources after the old ones (with weight 0 before the change), and
 * `length` set to the old recmap_order_count. All positions before the change keep their records;
 * recmap_loader_load_continued accepts states of the old order.
 *
 * Errors: as recmap_order_mixture; also INVALID if positions do not ascend from 0; if the weights
 * are too precise for so many changes; and if an epoch would have more than 2^62 positions, as with
 * RECMAP_STOP_LAST if a source ends with weight 0 before it is completed. A source that always has
 * weight 0 need not be completed. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_order_blended(recmap_order **order, recmap_order *const *sources, size_t source_count,
                     const recmap_mixture_change *changes, size_t change_count,
                     const recmap_mixture_options *options, recmap_error *error);

/* Batches of up to `batch_size` records of one group; records with equal labels form a group.
 * Batches are shuffled, and records are shuffled within their group. Each record occurs once per
 * epoch, so the last batch of a group may be smaller. n < 2^32 - 1. Memory: 8 bytes per record, and
 * 8 per batch. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_grouped(recmap_order **order,
                                                               const int64_t *labels, size_t n,
                                                               uint64_t batch_size, uint64_t seed,
                                                               recmap_error *error);

/* The size of a bucket's batches: `batch_size` records, or as many records as have `token_budget`
 * tokens if each is padded to the longest record of the bucket. One of the two is 0. */
typedef struct recmap_bucket_size {
    uint64_t batch_size;
    uint64_t token_budget;
} recmap_bucket_size;

/* As recmap_order_grouped, with length buckets as groups: bucket i holds the lengths below
 * bounds[i] (ascending) and not below bounds[i-1]; a last bucket holds the rest. Errors: also
 * INVALID, naming the record, for a negative length or one above the token budget. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_bucketed(
    recmap_order **order, const int64_t *lengths, size_t n, const int64_t *bounds,
    size_t bound_count, recmap_bucket_size size, uint64_t seed, recmap_error *error);

/* Batches of `batch_size` records that contain each label in proportion to its share of all
 * records: counts differ from the exact share by less than 2. The last batch may be smaller. Each
 * record occurs once per epoch. n < 2^32 - 1. Memory: 16 bytes per record. Cost of creating it: up
 * to one microsecond per record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_stratified(recmap_order **order,
                                                                  const int64_t *labels, size_t n,
                                                                  uint64_t batch_size,
                                                                  uint64_t seed,
                                                                  recmap_error *error);

/* ---- Views replace the numbers of `base`, which is retained, by other numbers. Batches stay as in
 * `base`. Errors: also INVALID if `base` has numbers at `count` or above. */

/* Number i becomes first + i * step. step may be negative, but not 0. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_view_range(recmap_order **order,
                                                                  recmap_order *base,
                                                                  uint64_t first, uint64_t count,
                                                                  int64_t step,
                                                                  recmap_error *error);

/* Number i becomes numbers[i]. Memory: 8 bytes per number. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_view_list(recmap_order **order,
                                                                 recmap_order *base,
                                                                 const uint64_t *numbers,
                                                                 size_t count, recmap_error *error);

/* Number i becomes the index of the i-th byte of `mask` that is not 0. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_view_mask(recmap_order **order,
                                                                 recmap_order *base,
                                                                 const uint8_t *mask, size_t count,
                                                                 recmap_error *error);

/* ---- Reading an order. */

/* Positions per epoch, the same in every epoch. */
RECMAP_API uint64_t recmap_order_count(const recmap_order *order);

/* All numbers of the order are below this limit; a data set must have at least this many records.
 */
RECMAP_API uint64_t recmap_order_number_limit(const recmap_order *order);

/* 1 if an epoch may hold a record more than once: orders with replacement, weighted orders,
 * mixtures, and views by a list that does not ascend. Random images then also depend on the
 * position. */
RECMAP_API int recmap_order_repeats(const recmap_order *order);

/* Sets numbers[i] to the record at positions[i] of the epoch. Positions may be in any order. Both
 * arrays may be the same one.
 *
 * Errors: INVALID for a position out of range, or an epoch too large for a mixture (2^63 positions
 * in total); NO_MEMORY from orders that make their own batches, and CANCELLED if the function of
 * recmap_thread_set_interrupt stopped them. `numbers` is then undefined, except that it is
 * unchanged if a position is out of range. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_at(uint64_t *numbers,
                                                          const recmap_order *order, uint64_t epoch,
                                                          const uint64_t *positions, size_t count,
                                                          recmap_error *error);

/* The same for the positions [first, first + count). */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_read(uint64_t *numbers,
                                                            const recmap_order *order,
                                                            uint64_t epoch, uint64_t first,
                                                            size_t count, recmap_error *error);

/* The position of a record in the epoch. Errors: NOT_FOUND if the record does not occur; INVALID if
 * it occurs more than once, or if the order draws with replacement. Cost: the same as for one
 * position, except that a list that is not ascending is searched. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_position_of(uint64_t *position,
                                                                   const recmap_order *order,
                                                                   uint64_t epoch, uint64_t number,
                                                                   recmap_error *error);

/* The number of batches per epoch of an order that makes its own batches, which are contiguous and
 * cover all positions; 0 if it makes none. */
RECMAP_API uint64_t recmap_order_batch_count(const recmap_order *order);

/* Batch `batch_index` holds the positions [first, first + count). Errors: INVALID if out of range
 * or if the order makes no batches; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_batch(uint64_t *first, uint64_t *count,
                                                             const recmap_order *order,
                                                             uint64_t epoch, uint64_t batch_index,
                                                             recmap_error *error);

/* The batch that holds a position. Errors: as recmap_order_batch. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_batch_of(uint64_t *batch_index,
                                                                const recmap_order *order,
                                                                uint64_t epoch, uint64_t position,
                                                                recmap_error *error);

/* Appends the canonical description, one JSON object: kind, parameters, seed, and the XXH3-128 of
 * arrays. Equal texts mean equal orders; docs/formats/order.md lists the members. Errors:
 * NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_describe(recmap_text *text,
                                                                const recmap_order *order,
                                                                recmap_error *error);

/* ---- Ranks: which rank takes which positions of an epoch, in steps that all ranks make together.
 */

/* What happens to the positions that do not fill a step for every rank. */
typedef enum recmap_last {
    /* one more step distributes them evenly, each once; a rank may get none */
    RECMAP_LAST_KEEP = 0,
    RECMAP_LAST_DROP = 1, /* they are left out */
    RECMAP_LAST_PAD = 2,  /* one more step is filled up from the epoch's start */
} recmap_last;

typedef struct recmap_deal_options {
    uint32_t version;    /* RECMAP_DEAL_OPTIONS_VERSION */
    uint32_t world_size; /* number of ranks */
    /* Records per rank and step; ignored if the order makes its own batches. */
    uint64_t batch_size;
    recmap_last last;
} recmap_deal_options;

#define RECMAP_DEAL_OPTIONS_VERSION 1
#define RECMAP_DEAL_OPTIONS_INIT                                                                   \
    { RECMAP_DEAL_OPTIONS_VERSION, 1, 1, RECMAP_LAST_KEEP }

/* How the rest of an epoch is dealt to ranks, from the position at which a run started or resumed.
 * A plain value that borrows the order. recmap_deal_init sets its members; read them directly. */
typedef struct recmap_deal {
    const recmap_order *order;
    uint64_t epoch;
    uint64_t position;    /* start position */
    uint64_t step_count;  /* the same on every rank */
    uint64_t first_batch; /* of the order's own batches: the one that contains `position` */
    recmap_deal_options options;
    uint64_t reserved[4]; /* 0; options and deals may grow into it */
} recmap_deal;

/* Sets the members of `deal`. `position` may be the epoch's end: then no steps are left. If the
 * order makes its own batches and `position` is inside one, the rest of that batch is the first.
 * NULL options are the defaults. Errors: INVALID for a position, world size or batch size out of
 * range; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_init(recmap_deal *deal,
                                                           const recmap_order *order,
                                                           uint64_t epoch, uint64_t position,
                                                           const recmap_deal_options *options,
                                                           recmap_error *error);

/* Finds step `step` of a run, counted from 0 over its epochs: sets `deal` to the deal of its
 * epoch, and `index` to the number of the step in it. The run begins at `position` of `epoch`. NULL
 * options are the defaults. Errors: as recmap_deal_init; INVALID if an epoch has no steps, or if
 * the step's epoch is above 2^62. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_find_step(recmap_deal *deal, uint64_t *index,
                                                                const recmap_order *order,
                                                                uint64_t epoch, uint64_t position,
                                                                const recmap_deal_options *options,
                                                                uint64_t step, recmap_error *error);

/* The positions of one rank in one step: (first + i) modulo the order's count, for i < count. Only
 * with RECMAP_LAST_PAD does this go past the end of the epoch. */
typedef struct recmap_share {
    uint64_t first;
    uint64_t count;
} recmap_share;

/* Errors: INVALID for a step or rank out of range; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_share(recmap_share *share,
                                                            const recmap_deal *deal, uint64_t step,
                                                            uint32_t rank, recmap_error *error);

/* The `share->count` record numbers of a share. Errors: as recmap_order_at. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_numbers(uint64_t *numbers,
                                                              const recmap_deal *deal,
                                                              const recmap_share *share,
                                                              recmap_error *error);

/* The state after `steps` steps, which is all that a checkpoint needs: the epoch, and the position
 * in it up to which all ranks together have consumed. After the last step it is the start of the
 * next epoch, whatever `last` is. Errors: INVALID for more steps than there are; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_state(uint64_t *epoch, uint64_t *position,
                                                            const recmap_deal *deal, uint64_t steps,
                                                            recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
