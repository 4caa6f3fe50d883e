/* What the library is measured against: the least that must be done, by loops that know all
 * beforehand. They use the library's own CRC and mapping, so that nothing but its work differs. */
#ifndef RECMAP_BENCH_C_YARDSTICK_H
#define RECMAP_BENCH_C_YARDSTICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/map.h"

/* Maps the shards of a set afresh, runs CRC-32C over all bytes on so many threads, unmaps
 * them. */
void crc_all_bytes(const char *folder, const char *name, unsigned thread_count);

/* The same on one thread, but frame by frame: both CRCs of each are compared. */
uint64_t crc_all_frames(const char *folder, const char *name);

/* A set whose shards are all mapped, and where each of its frames lies. */
struct mapped_set {
    struct file_map **maps;
    size_t map_count;
    uint64_t *addresses; /* of the frames */
    uint64_t record_count;
};

void mapped_set_open(struct mapped_set *set, const char *folder, const char *name);
void mapped_set_close(struct mapped_set *set);

/* Fetches the records of these numbers one by one and compares the data CRC of each, the header's
 * too if asked. Returns how many hold. */
uint64_t mapped_set_check(const struct mapped_set *set, const uint64_t *numbers, size_t count,
                          bool with_header);

#endif
