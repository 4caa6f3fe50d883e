/* Long records whose checksum was verified since the data set was opened. Rows are cut from a long
 * record again and again, and need not check all of it each time. */
#ifndef RECMAP_LONG_RECORDS_VERIFIED_H
#define RECMAP_LONG_RECORDS_VERIFIED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    VERIFIED_MIN_SIZE = 1 << 15, /* shorter frames are checked each time */
    VERIFIED_PLACES = 1 << 13,
};

/* A record evicts the one that has the same place. Zeroed, there are none. Any thread may use it.
 */
struct verified {
    _Atomic(uint64_t) places[VERIFIED_PLACES]; /* record number + 1 */
};

static inline _Atomic(uint64_t) *verified_place(struct verified *verified, uint64_t record) {
    return &verified->places[(record * UINT64_C(0x9e3779b97f4a7c15) >> 32) % VERIFIED_PLACES];
}

static inline bool verified_has(struct verified *verified, uint64_t record) {
    return atomic_load_explicit(verified_place(verified, record), memory_order_relaxed) ==
           record + 1;
}

static inline void verified_add(struct verified *verified, uint64_t record) {
    atomic_store_explicit(verified_place(verified, record), record + 1, memory_order_relaxed);
}

#endif
