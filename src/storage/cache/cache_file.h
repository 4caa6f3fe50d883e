/* The file of one version of an object in a cache. The object is divided into blocks of 4 KiB; the
 * file has those that were stored, each at its place, and a table of one number per block: 0, or
 * the block's CRC-32C. To this file, the inflated spans of a compressed shard are an object, in
 * which each span begins with a block (dataset/spans/stored_spans.h).
 *
 *     header of 8 KiB      the whole key of the object's version, and a checksum
 *     table                32 bits per block, padded to a multiple of 4 KiB
 *     blocks               the last one is cut at the object's end
 *
 * A block is written first, then its number, so a process may be killed at any time. After a loss
 * of power a number may be on the disk without its block: whoever reads blocks compares them with
 * their numbers, or has checksums of its own. Several processes may write a block at once: all of
 * them write the same bytes. Nothing fails: a block that cannot be read is missing, and one that
 * cannot be written stays missing. A damaged file is replaced, never cut: other processes may have
 * mapped it. */
#ifndef RECMAP_STORAGE_CACHE_CACHE_FILE_H
#define RECMAP_STORAGE_CACHE_CACHE_FILE_H

#include <stddef.h>

#include "storage/cache/cache_name.h"
#include "storage/cache/disk_cache.h"

enum { CACHE_BLOCK = 4096 };

struct cache_file;

/* Opens the file, or creates it. NULL if that is not possible, for example because a file of this
 * name has another key; the object is then read without the cache. The cache must outlive the file.
 */
struct cache_file *cache_file_open(struct disk_cache *cache, const struct cache_key *key);
void cache_file_close(struct cache_file *file);

/* The path of the file. */
const char *cache_file_path(const struct cache_file *file);

/* Maps the file, so that reads are copies. Without a map, for which the process may have too many,
 * it is read with pread. Called before other threads use the file. */
void cache_file_map(struct cache_file *file);

/* The mapped blocks, or NULL if the file is not mapped, or was truncated since. It may be truncated
 * at any time, as each mapped file; to look shortly before bytes are copied makes a crash of this
 * process unlikely, and with the guard (map.h) impossible. */
const uint8_t *cache_file_bytes(const struct cache_file *file);

/* Marks the file as used by this run, if it exists. */
void cache_file_claim(const struct disk_cache *cache, const struct cache_key *key);

/* Blocks [begin, end). */
struct block_range {
    uint64_t begin, end;
};

/* The blocks that have bytes of the range, which is not empty. */
struct block_range cache_file_blocks(uint64_t offset, uint64_t size);

/* The bytes of blocks: their first one, and how many there are. */
uint64_t cache_file_offset(uint64_t block);
size_t cache_file_size(const struct cache_file *file, struct block_range blocks);

/* The smallest range that has all missing blocks of `blocks`; empty if none is missing. `numbers`
 * receives the numbers of `blocks`. */
struct block_range cache_file_find_missing(uint32_t *numbers, const struct cache_file *file,
                                           struct block_range blocks);

/* Returns true if all of the blocks are present. What is found is remembered, so another process
 * may have made a block missing since: reading it then gives bytes that were found to be damaged.
 */
bool cache_file_has(const struct cache_file *file, struct block_range blocks);

/* Copies bytes that are in present blocks, without comparing them with the blocks' numbers. */
bool cache_file_read(const struct cache_file *file, void *data, size_t size, uint64_t offset);

/* The first returns true if a present range is in memory. The others ask the kernel to load it, and
 * to expect random reads. Advice only: nothing fails. */
bool cache_file_is_resident(const struct cache_file *file, uint64_t offset, uint64_t size);
void cache_file_will_need(const struct cache_file *file, uint64_t offset, uint64_t size);
void cache_file_expect_random(const struct cache_file *file);

/* Copies whole blocks and compares them with their numbers. */
bool cache_file_read_blocks(const struct cache_file *file, uint8_t *data, struct block_range blocks,
                            const uint32_t *numbers);

/* Stores blocks. The caller has reserved space for all of them. The space of blocks that are
 * present by now is given back. */
void cache_file_store(struct cache_file *file, const uint8_t *data, struct block_range blocks);

/* Makes blocks missing. */
void cache_file_forget(struct cache_file *file, struct block_range blocks);

#endif
