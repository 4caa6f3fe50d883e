/* Keys of the records of a shard, for framings whose records have one: samples of tar archives. A
 * key that returns after other records is usually one sample in several parts, and a file that is
 * in a sample twice cannot be distinguished from the other. Both are noticed, but are not errors.
 */
#ifndef RECMAP_INDEX_BUILD_SAMPLE_KEYS_H
#define RECMAP_INDEX_BUILD_SAMPLE_KEYS_H

#include <recmap/index.h>

#include "index/extract/run.h"

struct sample_keys;

/* Returns NULL without memory. */
struct sample_keys *sample_keys_create(void);
void sample_keys_destroy(struct sample_keys *keys);

/* Starts a shard, by whose `path` notices name it. */
void sample_keys_begin(struct sample_keys *keys, const char *path);

/* Compares the keys of a run, whose first record has the number `first`, with those of earlier
 * records of the shard. Only the first SAMPLE_KEYS_MAX records of a shard are compared, so that
 * memory is bounded. False without memory. */
enum { SAMPLE_KEYS_MAX = 1 << 22 };
bool sample_keys_add(struct sample_keys *keys, const struct record_run *run, uint64_t first);

/* Writes what was noticed since the creation. */
void sample_keys_report(recmap_index_summary *summary, const struct sample_keys *keys);

#endif
