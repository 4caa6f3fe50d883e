/* Prefix sums over blocks, computed on all cores: how many elements (or rows) come before each
 * block. They say which block an element is in. */
#ifndef RECMAP_ORDER_ROWS_SUMS_H
#define RECMAP_ORDER_ROWS_SUMS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* Sums are read while another thread may write them for another epoch (epoch_table.h), so each is
 * atomic. sums[block_count] is the sum of all. */
typedef _Atomic(uint64_t) atomic_sum;

/* What is summed. Several threads call the functions at once, for up to SUMS_STRETCH blocks. */
struct sums_input {
    const void *context;
    uint64_t block_count;
    /* sizes[i] is the size of block first + i. */
    recmap_status (*measure)(uint64_t *sizes, const void *context, uint64_t first, size_t count,
                             recmap_error *error);
    size_t stretch; /* blocks of one call: 1 to SUMS_STRETCH */
    /* NULL, or used instead of `measure`: adds to the sizes of any blocks. The calls for all blocks
     * together give all sizes. */
    void (*scatter)(atomic_sum *sizes, const void *context, uint64_t first, size_t count);
};

enum { SUMS_STRETCH = 64 };

/* Fills sums[0], ..., sums[block_count]. Asks the thread's interrupt. Errors: those of `measure`;
 * NO_MEMORY; CANCELLED. */
recmap_status sums_compute(atomic_sum *sums, const struct sums_input *input, recmap_error *error);

/* The last block whose sum is at most `offset`: if the offset is below the sum of all, the block
 * that holds it, which is not empty. */
uint64_t sums_find(const atomic_sum *sums, uint64_t block_count, uint64_t offset);

static inline uint64_t sums_at(const atomic_sum *sums, uint64_t block) {
    return atomic_load_explicit(&sums[block], memory_order_acquire);
}

#endif
