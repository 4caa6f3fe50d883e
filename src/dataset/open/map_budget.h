/* The maps of the shards of all data sets. Linux limits the maps of a process (vm.max_map_count,
 * 65,530 by default), and memory that an application allocates takes maps as well: a process that
 * has used them up can hardly do anything. So data sets use at most half of them together. */
#ifndef RECMAP_DATASET_OPEN_MAP_BUDGET_H
#define RECMAP_DATASET_OPEN_MAP_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* A data set may always map as many shards at once as this. */
enum { MAP_SHARE_MIN = 4 };

/* The share of the maps that data sets use together. */
size_t map_budget_limit(void);

/* Takes maps for a data set with `wanted` shards, and returns how many it may have at once: as many
 * as shards, or a sixteenth of those that are left, so that others get some too. Any thread may
 * call it. */
size_t map_budget_take(size_t wanted);

/* Gives back what was taken. */
void map_budget_give(size_t count);

/* Returns true if a shard may be mapped now. Returns false if the process has used up nearly all of
 * its maps, whatever for: the last ones are left for memory and threads, and shards are read. Call
 * it once for each map. Any thread may call it. */
bool map_budget_has_room(void);

#endif
