/* The shards of a data set. A shard is opened on first use: mapped, or as an open file for pread. A
 * limited number is open at once; the least recently used shard is closed first, but never while it
 * is pinned. When a shard is opened, it is compared with what was indexed (shard_samples.h). */
#ifndef RECMAP_DATASET_OPEN_SHARD_CACHE_H
#define RECMAP_DATASET_OPEN_SHARD_CACHE_H

#include <recmap/dataset.h>

#include "base/core/bytes.h"
#include "dataset/open/shard_folder.h"
#include "format/shards/shard_bytes.h"
#include "index/tables/index.h"

struct shard_cache;

/* What a record's `pin` points to: something that must be released. */
struct record_pin {
    void (*release)(struct record_pin *pin);
};

/* An open shard. It is not closed while it is pinned. */
struct open_shard;

struct shard_cache_options {
    struct shard_folder_options folder;
    recmap_access access;
    unsigned limit;          /* of open shards; 0: derived from the limits of the process */
    uint64_t span_keep_size; /* as the data set's option */
    const char *disk_cache;  /* the folder of a cache, or NULL; only used by shard_cache_create */
    uint64_t disk_cache_size;
    bool checks_data; /* records are compared with their checksums, if the framing has any */
};

/* `index` must outlive the cache. Errors: those of shard_folder_init and of disk_cache_open. */
recmap_status shard_cache_create(struct shard_cache **cache, struct index_file *index,
                                 const struct shard_cache_options *options, recmap_error *error);

/* The limit of cached bytes of inflated spans, and counters of inflating. */
uint64_t shard_cache_span_keep_size(const struct shard_cache *cache);
recmap_span_statistics shard_cache_span_statistics(const struct shard_cache *cache);
recmap_cache_statistics shard_cache_disk_statistics(const struct shard_cache *cache);

/* Closes all shards, pinned or not. */
void shard_cache_destroy(struct shard_cache *cache);

/* Returns true if shards may be closed while the data set is open. If all of them may be open at
 * once, none is ever closed and pins are not needed. */
bool shard_cache_evicts(const struct shard_cache *cache);

/* Returns true if a shard may be in a remote store, so that opening it may take a request. */
bool shard_cache_is_remote(const struct shard_cache *cache);

/* Where its shards are. */
struct shard_folder *shard_cache_folder(struct shard_cache *cache);

/* Opens the shard if necessary, and pins it. Any thread may call it.
 * Errors: IO, NO_MEMORY, STALE, CORRUPT (a name that leaves the index's folder). */
recmap_status shard_cache_pin(struct open_shard **shard, struct shard_cache *cache,
                              uint32_t shard_index, recmap_error *error);
void shard_cache_unpin(struct open_shard *shard);

/* The pin that shard_cache_pin took, for a record to hold; NULL if shards are never closed. */
struct record_pin *open_shard_record_pin(struct open_shard *shard);

/* Bytes of a shard that are in memory: `size` of them, from `offset` of the shard on. */
struct shard_window {
    const uint8_t *data;
    uint64_t offset;
    uint64_t size;
    const struct open_shard *shard; /* whose mapping they are in; NULL: they are a copy */
};

/* The bytes of a frame, or NULL unless the window holds all of them. Every access path finds its
 * frames with this function: a place comes from the index, which may be forged, and what the index
 * says of one record need not agree with what it says of another. */
static inline const uint8_t *window_find_frame(const struct shard_window *window,
                                               const struct index_place *place) {
    uint64_t offset = place->offset - window->offset;
    if (place->offset < window->offset || !bytes_fit(offset, place->frame_size, window->size))
        return NULL;
    return window->data + offset;
}

/* The mapped bytes of an uncompressed shard. NULL if the shard is compressed or read with pread, by
 * choice or because it could not be mapped. */
const uint8_t *open_shard_bytes(const struct open_shard *shard);

/* A window of all mapped bytes; empty if open_shard_bytes returns NULL. Valid while the shard is
 * pinned. */
const struct shard_window *open_shard_window(const struct open_shard *shard);

/* The path of its file, or its URL; for messages. Valid while the shard is pinned. */
const char *open_shard_path(const struct open_shard *shard);

/* Returns true if the SIGBUS guard replaced missing bytes of the mapping by zeros: the file was
 * truncated.
 */
bool open_shard_was_cut(const struct open_shard *shard);

/* The first returns true if bytes of a shard are in memory; the second asks the kernel to load
 * them. Offsets and sizes refer to the inflated image; the corresponding bytes of the file are
 * checked or requested. Advice only: nothing fails. */
bool open_shard_is_resident(const struct open_shard *shard, uint64_t offset, uint64_t size);
void open_shard_will_need(const struct open_shard *shard, uint64_t offset, uint64_t size);

/* Tells the kernel that records are read at random, so that it does not read around them. */
void open_shard_expect_random(struct open_shard *shard);

/* A descriptor of the shard's file for reads past the page cache (see file_pass_cache), or -1
 * unless the access is DIRECT and the file system supports it. Valid while the shard is pinned. */
int open_shard_direct(uint32_t *alignment, const struct open_shard *shard);

/* The source to read an uncompressed shard from, if reads gain from being in flight together; else
 * NULL. Valid while the shard is pinned. */
struct source *open_shard_distant_source(const struct open_shard *shard);

/* Returns true if its bytes come from a remote store. */
bool open_shard_is_remote(const struct open_shard *shard);

/* For a shard of which a record turned out to be bad: compares its samples with the index, unless
 * that was done before. OK if the shard is the indexed one, so that it is damaged. Errors: STALE if
 * it changed; as when reading. */
recmap_status open_shard_judge(struct open_shard *shard, recmap_error *error);

/* Returns true if samples of the shard were compared, and none of them could be read. */
bool open_shard_is_lost(const struct open_shard *shard);

/* Reads bytes of an uncompressed local shard once more, past the page cache if possible, because
 * those that were read or mapped seem to be damaged. `is_possible` is set to false for other shards
 * and if the file is not the opened one any more. Errors: IO, NO_MEMORY. */
recmap_status open_shard_read_again(bool *is_possible, const struct open_shard *shard, void *data,
                                    size_t size, uint64_t offset, recmap_error *error);

/* For bytes that turned out to be damaged. Returns true if they may be right when they are read
 * again: the disk cache had them, which drops them, or the shard is a remote object, so that they
 * may have been changed on the way here. */
bool open_shard_forget(const struct open_shard *shard, uint64_t offset, uint64_t size);

/* Copies bytes of the shard, mapped or not. Bytes of a compressed shard come from its spans, which
 * are inflated if they are not cached. Errors: IO, CORRUPT, STALE, NO_MEMORY. */
recmap_status open_shard_read(const struct open_shard *shard, void *data, size_t size,
                              uint64_t offset, recmap_error *error);

/* The same, but without spans and bytes of remote objects that the disk cache has: what it has says
 * nothing about the shard's file. */
recmap_status open_shard_read_file(const struct open_shard *shard, void *data, size_t size,
                                   uint64_t offset, recmap_error *error);

/* As open_shard_read, or open_shard_read_file, for frames of a compressed shard, in file order,
 * into `data` one after another. */
recmap_status open_shard_read_frames(const struct open_shard *shard, uint8_t *data,
                                     const struct index_place *places, size_t count,
                                     recmap_error *error);
recmap_status open_shard_read_file_frames(const struct open_shard *shard, uint8_t *data,
                                          const struct index_place *places, size_t count,
                                          recmap_error *error);

/* Returns true if the disk cache may have inflated spans of the shard. */
bool open_shard_is_stored(const struct open_shard *shard);

#endif
