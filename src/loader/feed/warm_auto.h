/* When a loader begins to warm by itself: if its reads wait for a disk at random, and warming helps
 * and harms nobody. */
#ifndef RECMAP_LOADER_FEED_WARM_AUTO_H
#define RECMAP_LOADER_FEED_WARM_AUTO_H

#include <stdbool.h>

#include <recmap/loader.h>

struct source;

/* All zeros: nothing was measured. */
struct warm_auto {
    uint64_t since_ns;                    /* when the times below were taken; 0: never */
    uint64_t wait_ns;                     /* that the caller waited */
    uint64_t disk_ns;                     /* that the threads read from files */
    uint64_t busy_ns;                     /* that they worked, or waited for a CPU */
    uint64_t queued_ns;                   /* that they waited for a CPU */
    uint64_t record_count, missing_count; /* records taken, and asked for because not in memory */
    struct source *lock; /* the first shard, locked while this process warms it; NULL: it is not */
};

/* Returns true if the loader has waited for the disk for some time since this was last asked. Costs
 * nothing while the caller does not wait. */
bool warm_auto_has_waited(recmap_loader *loader);

/* Returns true if the disk limits a loader of which this was measured in `passed_ns`: the caller
 * waited for at least a quarter of the time, and of the threads' work most was reading from files.
 * On a busy machine, a thread that reads a page soon has it and then waits for a CPU, again and
 * again, so that wait counts as well if at least a quarter of the records were not in memory. */
bool warm_auto_is_slow(const struct warm_auto *measured, uint64_t passed_ns);

/* Returns true if to begin: the next step reads records at random, all shards are plain files, the
 * rest of the epoch fits into memory beside what is mapped, the shards are on a disk of this
 * machine, and no other process of it warms them, which a lock on the first shard tells. Takes the
 * lock then. Otherwise `why` says what forbids it: SEQUENTIAL if warming would not help. */
bool warm_auto_may_begin(recmap_warm_state *why, recmap_loader *loader);

/* Releases the lock, if it is held. */
void warm_auto_end(struct warm_auto *automatic);

#endif
