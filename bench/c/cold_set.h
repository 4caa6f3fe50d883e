/* Sets whose files are not in memory when a measurement begins. */
#ifndef RECMAP_BENCH_C_COLD_SET_H
#define RECMAP_BENCH_C_COLD_SET_H

#include <stdint.h>

enum { COLD_SHARDS = 8, COLD_FRAME_MAX = 102400 };

/* Writes a set of `size` bytes and its index unless they exist. All frames are of one size, and
 * begin at multiples of it. */
void cold_set_make(const char *folder, const char *name, uint64_t size, uint64_t frame_size);

/* Drops the shards from the page cache. No shard may be mapped. */
void cold_set_drop(const char *folder, const char *name);

/* Reads all shards once, in order, as `cat` does. */
void cold_set_read(const char *folder, const char *name);

#endif
