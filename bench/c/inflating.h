/* What compressed shards are measured against: ISA-L alone, from the beginning of each file on,
 * with the checksum of GZIP and, if asked, CRC-32C over what comes out. Files of one member. */
#ifndef RECMAP_BENCH_C_INFLATING_H
#define RECMAP_BENCH_C_INFLATING_H

#include <stdbool.h>
#include <stdint.h>

/* Inflates a file, but no more than the first `max` bytes of what it holds; returns how many. */
uint64_t inflate_file(const char *path, uint64_t size_max, bool with_crc);

/* Inflates all shards of a set on so many threads, with CRC-32C. */
uint64_t inflate_set(const char *folder, const char *set, unsigned thread_count);

#endif
