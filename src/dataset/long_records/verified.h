/* Records whose checksum was verified since the data set was opened. Rows that hold only parts of a
 * record need not check all of it each time. */
#ifndef RECMAP_DATASET_LONG_RECORDS_VERIFIED_H
#define RECMAP_DATASET_LONG_RECORDS_VERIFIED_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A frame of this size is checked once, whatever rows hold of it. */
enum { VERIFIED_MIN_SIZE = 1 << 15 };

/* A bit per record. Any thread may use it. */
struct verified {
    uint64_t record_count;
    _Atomic(uint64_t) *words;
};

/* Returns false if memory runs out. Pages of words without a verified record take no memory. */
static inline bool verified_init(struct verified *verified, uint64_t record_count) {
    verified->record_count = record_count;
    verified->words = calloc((size_t)(record_count / 64) + 1, sizeof *verified->words);
    return verified->words;
}

static inline void verified_deinit(struct verified *verified) {
    free((void *)verified->words);
}

static inline bool verified_has(const struct verified *verified, uint64_t record) {
    assert(record < verified->record_count);
    uint64_t word = atomic_load_explicit(&verified->words[record / 64], memory_order_relaxed);
    return word >> record % 64 & 1;
}

static inline void verified_add(struct verified *verified, uint64_t record) {
    assert(record < verified->record_count);
    atomic_fetch_or_explicit(&verified->words[record / 64], UINT64_C(1) << record % 64,
                             memory_order_relaxed);
}

#endif
