/* A data set to warm, and what of its files is in memory. */
#ifndef RECMAP_TESTS_UNIT_DATASET_WARM_WARM_SET_H
#define RECMAP_TESTS_UNIT_DATASET_WARM_WARM_SET_H

#include <stdbool.h>

#include <recmap/recmap.h>

enum {
    WARM_SHARDS = 8,
    WARM_SHARD_RECORDS = 1000,
    WARM_RECORDS = WARM_SHARDS * WARM_SHARD_RECORDS,
    WARM_FRAME = 2048,
    WARM_LARGE_KIB = 1 << 20
};

/* Writes shards of records that no compression makes smaller, compressed or not, and the index
 * set.rmx. Then drops the shards from memory. */
void warm_set_write(bool is_compressed);

/* Drops the shards from memory. No process may have mapped them. */
void warm_set_drop(void);

/* The bytes of a shard that are in memory. */
uint64_t warm_set_resident(unsigned shard);

/* Returns false if the kernel does not say what is in memory here, or does not drop it: then the
 * test is to be skipped. */
bool warm_set_can_drop(void);

/* A shuffled order of all records. */
recmap_order *warm_set_order(uint64_t seed);

/* Makes what the kernel says about memory a file in the folder of the test. With `kib`, that is how
 * much is available. */
void warm_set_forge_memory(uint64_t kib);

/* The set-up and tear-down of a test: a folder on a device, and much memory. */
int warm_set_enter(void **state);
int warm_set_leave(void **state);

#endif
