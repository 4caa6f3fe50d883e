/* An order: which record stands at which position of an epoch, as a pure function.
 *
 * An epoch is `count` positions. Nothing is walked to get to one: every position of every epoch
 * costs the same, and the same arguments give the same records in every process, on every machine
 * and in every later version. docs/order.md specifies each kind, with test vectors. */
#ifndef RECMAP_ORDER_H
#define RECMAP_ORDER_H

#include <recmap/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable and counted: whoever makes or retains one releases it once.
 * Threads: every function may be called from many threads at once. Fork: a child may use it. */
typedef struct recmap_order recmap_order;

/* Returns `order`. */
RECMAP_API recmap_order *recmap_order_retain(recmap_order *order);
/* The last release frees it. NULL may be released. */
RECMAP_API void recmap_order_release(recmap_order *order);

/* The most records and positions that an order can have: 2^62. */
#define RECMAP_ORDER_COUNT_MAX ((uint64_t)1 << 62)

/* ---- Kinds. Each makes an order of the caller's; arrays are read and not kept. Errors of all:
 * INVALID for arguments out of range, NO_MEMORY. */

/* Record i at position i. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_sequential(recmap_order **order, uint64_t n,
                                                                  recmap_error *error);

/* Another permutation of all records in each epoch. No memory; 3 to 9 ns a position in batches. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_shuffled(recmap_order **order, uint64_t n,
                                                                uint64_t seed, recmap_error *error);

/* Blocks of `block` records, shuffled; then, in each window of `window` blocks, all records
 * shuffled. At any time a reader is within one window: near sequential reading for disks. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_windowed(recmap_order **order, uint64_t n,
                                                                uint64_t block, uint64_t window,
                                                                uint64_t seed, recmap_error *error);

/* `size` draws an epoch (0: n), each of any record alike. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_with_replacement(recmap_order **order,
                                                                        uint64_t n, uint64_t seed,
                                                                        uint64_t size,
                                                                        recmap_error *error);

/* `size` draws an epoch (0: n), each of record i with probability weights[i] / sum; weights are
 * taken to 62 - log2(n) bits of the largest one. A weight of 0 never comes, any other can. Memory:
 * 16 bytes a record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_weighted(recmap_order **order,
                                                                const double *weights, size_t n,
                                                                uint64_t seed, uint64_t size,
                                                                recmap_error *error);

/* When an epoch of a mixture ends. */
typedef enum recmap_stop {
    RECMAP_STOP_FIRST = 0, /* before any source would have to begin again */
    RECMAP_STOP_LAST = 1,  /* when every source has been walked whole */
} recmap_stop;

enum { RECMAP_MIXTURE_SOURCES_MAX = 4096 };

/* Sources interleaved in proportion to their weights: of the first t positions each source has its
 * exact share of t, rounded up or down. Numbers run on from source to source: those of a source
 * begin behind recmap_order_number_limit of the ones before. Each source walks its own epochs, on
 * and on over the epochs of the mixture. The sources are retained.
 * Errors: also INVALID, naming the source, for one that is empty or whose weight is not above 0,
 * and where an epoch would have more than 2^62 positions. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_order_mixture(recmap_order **order, recmap_order *const *sources, const double *weights,
                     size_t source_count, recmap_stop stop, recmap_error *error);

/* Batches of up to `batch_size` records of one group, in shuffled order; records shuffled in their
 * group. Each record once an epoch: a group's last batch may be smaller. Records with equal labels
 * make a group. n < 2^32 - 1. Memory: 8 bytes a record, and 8 a batch. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_grouped(recmap_order **order,
                                                               const int64_t *labels, size_t n,
                                                               uint64_t batch_size, uint64_t seed,
                                                               recmap_error *error);

/* How many records a batch of a bucket holds: `batch_size`, or as many as have `token_budget`
 * tokens when each is padded to the longest record of the bucket. One of the two is 0. */
typedef struct recmap_bucket_size {
    uint64_t batch_size;
    uint64_t token_budget;
} recmap_bucket_size;

/* The same with buckets of length for groups: bucket i holds the lengths below bounds[i]
 * (ascending) and not below bounds[i-1]; a last one holds the rest. Errors: also INVALID, naming
 * the record, for a length below 0 or above the token budget. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_bucketed(
    recmap_order **order, const int64_t *lengths, size_t n, const int64_t *bounds,
    size_t bound_count, recmap_bucket_size size, uint64_t seed, recmap_error *error);

/* Batches of `batch_size` records that hold each label in its share of all records: the counts
 * differ from the share by less than 2. The last batch may be smaller. Each record once an epoch.
 * n < 2^32 - 1. Memory: 16 bytes a record. Cost: up to a microsecond a record to make. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_stratified(recmap_order **order,
                                                                  const int64_t *labels, size_t n,
                                                                  uint64_t batch_size,
                                                                  uint64_t seed,
                                                                  recmap_error *error);

/* ---- Views: the numbers of `base`, which is retained, stand for others. Batches stay those of
 * `base`. Errors: also INVALID when `base` has numbers at `count` or above. */

/* Number i is first + i * step; step may be negative, not 0. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_view_range(recmap_order **order,
                                                                  recmap_order *base,
                                                                  uint64_t first, uint64_t count,
                                                                  int64_t step,
                                                                  recmap_error *error);

/* Number i is numbers[i]. Memory: 8 bytes a number. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_view_list(recmap_order **order,
                                                                 recmap_order *base,
                                                                 const uint64_t *numbers,
                                                                 size_t count, recmap_error *error);

/* Number i is that of the i-th byte of `mask` that is not 0. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_view_mask(recmap_order **order,
                                                                 recmap_order *base,
                                                                 const uint8_t *mask, size_t count,
                                                                 recmap_error *error);

/* ---- What an order gives. */

/* Positions an epoch, the same in every epoch. */
RECMAP_API uint64_t recmap_order_count(const recmap_order *order);

/* Every number that the order gives is below it; a data set must have as many records. */
RECMAP_API uint64_t recmap_order_number_limit(const recmap_order *order);

/* numbers[i] is the record at positions[i] of the epoch, in any order of positions; the arrays may
 * be the same one.
 * Errors: INVALID for a position out of range, or an epoch too large for a mixture (2^63 positions
 * in all); NO_MEMORY from orders that make their own batches. `numbers` is then undefined, but
 * untouched when a position is out of range. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_at(uint64_t *numbers,
                                                          const recmap_order *order, uint64_t epoch,
                                                          const uint64_t *positions, size_t count,
                                                          recmap_error *error);

/* The same for the positions [first, first + count). */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_run(uint64_t *numbers,
                                                           const recmap_order *order,
                                                           uint64_t epoch, uint64_t first,
                                                           size_t count, recmap_error *error);

/* The position at which the record comes in the epoch.
 * Errors: NOT_FOUND when it does not come; INVALID when it comes more than once, or when the order
 * draws with replacement. Cost: as one position, but a list that is not ascending is searched. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_position_of(uint64_t *position,
                                                                   const recmap_order *order,
                                                                   uint64_t epoch, uint64_t number,
                                                                   recmap_error *error);

/* Batches an epoch of an order that makes its own, side by side over all positions; 0: it makes
 * none. */
RECMAP_API uint64_t recmap_order_batch_count(const recmap_order *order);

/* Batch `batch_index` holds the positions [first, first + count). Errors: INVALID out of range or
 * without batches; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_batch(uint64_t *first, uint64_t *count,
                                                             const recmap_order *order,
                                                             uint64_t epoch, uint64_t batch_index,
                                                             recmap_error *error);

/* The batch that holds a position. Errors: the same. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_batch_of(uint64_t *batch_index,
                                                                const recmap_order *order,
                                                                uint64_t epoch, uint64_t position,
                                                                recmap_error *error);

/* Appends the canonical description, one JSON object: kind, parameters, seed, and the XXH3-128 of
 * arrays. Equal texts mean equal orders; docs/order.md lists the members. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_describe(recmap_text *text,
                                                                const recmap_order *order,
                                                                recmap_error *error);

/* ---- Ranks: who takes what of an epoch, in steps that all ranks make together. */

/* What becomes of the positions that do not fill a step for every rank. */
typedef enum recmap_last {
    RECMAP_LAST_KEEP = 0, /* one more step deals them evenly, each once; a rank may get none */
    RECMAP_LAST_DROP = 1, /* they are left out */
    RECMAP_LAST_PAD = 2,  /* one more step is filled up from the epoch's start */
} recmap_last;

typedef struct recmap_deal_options {
    uint32_t version;    /* RECMAP_DEAL_OPTIONS_VERSION */
    uint32_t world_size; /* ranks */
    /* Records a rank and step; ignored where the order makes its own batches. */
    uint64_t batch_size;
    recmap_last last;
} recmap_deal_options;

#define RECMAP_DEAL_OPTIONS_VERSION 1
#define RECMAP_DEAL_OPTIONS_INIT                                                                   \
    { RECMAP_DEAL_OPTIONS_VERSION, 1, 1, RECMAP_LAST_KEEP }

/* How the rest of an epoch is dealt, from the position on at which a run started or resumed. A
 * plain value: it borrows the order. Read its members; recmap_deal_init sets them. */
typedef struct recmap_deal {
    const recmap_order *order;
    uint64_t epoch;
    uint64_t position; /* where it starts */
    recmap_deal_options options;
    uint64_t step_count;  /* the same on every rank */
    uint64_t first_batch; /* of the order's own batches: the one that holds `position` */
} recmap_deal;

/* `position` may be the epoch's end: no steps are left then. Where the order makes its own batches
 * and `position` lies inside one, the rest of that batch is the first. NULL options are the
 * defaults. Errors: INVALID for a position, world size or batch size out of range; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_init(recmap_deal *deal,
                                                           const recmap_order *order,
                                                           uint64_t epoch, uint64_t position,
                                                           const recmap_deal_options *options,
                                                           recmap_error *error);

/* The positions of one rank in one step: (first + i) modulo the order's count, for i < count. Only
 * RECMAP_LAST_PAD makes it pass the end of the epoch. */
typedef struct recmap_share {
    uint64_t first;
    uint64_t count;
} recmap_share;

/* Errors: INVALID for a step or rank out of range; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_share(recmap_share *share,
                                                            const recmap_deal *deal, uint64_t step,
                                                            uint32_t rank, recmap_error *error);

/* The numbers of a share, `share->count` of them. Errors: as recmap_order_at. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_numbers(uint64_t *numbers,
                                                              const recmap_deal *deal,
                                                              const recmap_share *share,
                                                              recmap_error *error);

/* The state after `steps` steps, which is all that a checkpoint needs: the epoch, and the position
 * in it up to which every rank together has consumed. After the last step it is the start of the
 * next epoch, whatever `last` is. Errors: INVALID for more steps than there are; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_deal_state(uint64_t *epoch, uint64_t *position,
                                                            const recmap_deal *deal, uint64_t steps,
                                                            recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
