/* Whole epochs through a loader, of which nothing is used but the time that they take. */
#ifndef RECMAP_BENCH_C_EPOCH_H
#define RECMAP_BENCH_C_EPOCH_H

#include <recmap/recmap.h>

enum { EPOCH_BATCH = 256, EPOCH_WINDOW = 8 };

/* The records of this many average spans: the block of a windowed order over compressed shards. */
uint64_t epoch_block(const recmap_dataset *dataset, unsigned span_count);

/* The orders: windows of EPOCH_WINDOW such blocks; a true shuffle where `block` is 0. */
recmap_order *epoch_order(const recmap_dataset *dataset, uint64_t block);

/* Iterates over an epoch in batches of EPOCH_BATCH; ns on cores, of all threads together. */
double epoch_iterate(recmap_dataset *dataset, recmap_order *order, unsigned thread_count);

#endif
