/* The data set's internals, shared by the files of this folder. */
#ifndef RECMAP_DATASET_OPEN_DATASET_H
#define RECMAP_DATASET_OPEN_DATASET_H

#include <stdatomic.h>

#include <recmap/dataset.h>

#include "base/core/bytes.h"
#include "dataset/open/shard_cache.h"
#include "format/framing/framing.h"
#include "index/extract/extract.h"
#include "index/tables/index.h"
#include "index/tables/rebuild_advice.h"

struct record_buffer;
struct row_caches;
struct dataset_part;

/* A data set is open from an index, or the concatenation of others (dataset/concat.h). A
 * concatenation has parts instead of `index`, `shards` and `extractor`, which are NULL. */
struct recmap_dataset {
    struct index_file *index;
    struct shard_cache *shards;
    struct dataset_part *parts;
    size_t part_count;                     /* 0 unless it is a concatenation */
    const struct index_shard *shard_table; /* the shards of the index, or `own_shards` */
    struct index_shard *own_shards;
    const struct framing **framings; /* of each shard */
    enum frame_check check;
    recmap_access access;
    bool evicts_shards;            /* as shard_cache_evicts; of any part */
    bool is_remote;                /* a shard may be in a remote store; of any part */
    bool outgrows_caches;          /* a record is unlikely to be in a CPU cache when read again */
    struct extractor *extractor;   /* reads the ids of records; NULL without ids */
    struct record_buffer *buffers; /* of copied records that were not released; process lock */
    _Atomic(struct row_caches *) row_caches; /* NULL before the first rows */
    recmap_dataset_info info;
};

/* The path of the index, or of the index that has the shard; NULL for a concatenation. */
const char *dataset_path(const recmap_dataset *dataset);
const char *dataset_path_of_shard(const recmap_dataset *dataset, uint32_t shard_index);

/* Adds the place of a record to an error: the path of its shard, its number, and a byte of the
 * shard. */
void dataset_fail_at(recmap_error *error, const recmap_dataset *dataset, uint32_t shard_index,
                     uint64_t number, uint64_t offset);

/* As index_advise_rebuild. Without the command's operands for a concatenation, and if the shards
 * are elsewhere than the index says. */
void dataset_advise_rebuild(recmap_error *error, const recmap_dataset *dataset,
                            struct rebuild_option option, const char *prefix);

/* As index_advise_lift. Without the name of the index for a concatenation, and if the shards are
 * elsewhere than the index says. */
void dataset_advise_lift(recmap_error *error, const recmap_dataset *dataset, const char *name,
                         const char *prefix);

/* The place of record `number`, which is below record_count, with the number of its shard in this
 * data set. Errors: as index_locate. */
recmap_status concat_locate(struct index_place *place, const recmap_dataset *dataset,
                            uint64_t number, recmap_error *error);

static inline recmap_status dataset_find_place(struct index_place *place,
                                               const recmap_dataset *dataset, uint64_t number,
                                               recmap_error *error) {
    if (__builtin_expect(dataset->part_count != 0, 0))
        return concat_locate(place, dataset, number, error);
    return index_locate(place, dataset->index, number, error);
}

/* Pins a shard. Errors: as shard_cache_pin. */
recmap_status concat_pin_shard(struct open_shard **shard, const recmap_dataset *dataset,
                               uint32_t shard_index, recmap_error *error);

static inline recmap_status dataset_pin_shard(struct open_shard **shard,
                                              const recmap_dataset *dataset, uint32_t shard_index,
                                              recmap_error *error) {
    if (__builtin_expect(dataset->part_count != 0, 0))
        return concat_pin_shard(shard, dataset, shard_index, error);
    return shard_cache_pin(shard, dataset->shards, shard_index, error);
}

/* As index_prefetch, index_prefetch_bits and index_guess. */
void dataset_prefetch_place(const recmap_dataset *dataset, uint64_t number);
void dataset_prefetch_place_bits(const recmap_dataset *dataset, uint64_t number);
bool dataset_guess_place(uint32_t *shard_index, uint64_t *offset, const recmap_dataset *dataset,
                         uint64_t number);

/* INVALID unless [first, first + count) are records. */
recmap_status dataset_check_range(const recmap_dataset *dataset, uint64_t first, uint64_t count,
                                  recmap_error *error);

/* The cache level that a frame is prefetched into. Prefetching into the second level delays other
 * requests less; prefetching into the first level only does not evict the index from the second. */
enum prefetch_level { PREFETCH_SECOND_LEVEL, PREFETCH_FIRST_LEVEL, PREFETCH_FIRST_ALONE };

/* At most this many bytes of a frame are prefetched: a CPU has few outstanding requests, and its
 * hardware prefetcher loads the rest. */
enum { PREFETCH_MAX = 512 };

/* gcc 12 treats a function that only prefetches as one without effect, and removes calls to it that
 * were not inlined early. */
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

ALWAYS_INLINE void prefetch_line(const uint8_t *line, enum prefetch_level level) {
    if (level == PREFETCH_FIRST_ALONE) __builtin_prefetch(line, 0, 0);
    else if (level == PREFETCH_FIRST_LEVEL) __builtin_prefetch(line, 0, 3);
    else __builtin_prefetch(line, 0, 2);
}

/* Prefetches the part of a frame that will be checked, up to PREFETCH_MAX bytes. All cache lines
 * are requested at once, because the index knows the frame's size before its header is loaded. */
ALWAYS_INLINE void dataset_prefetch_frame(const recmap_dataset *dataset, const uint8_t *frame_bytes,
                                          uint64_t size, enum prefetch_level level) {
    enum { LINE = 64 };
    uint64_t wanted = dataset->check == FRAME_CHECK_HEADER ? 1 : min_u64(size, PREFETCH_MAX);
    for (uint64_t at = 0; at < wanted; at += LINE) prefetch_line(frame_bytes + at, level);
    prefetch_line(frame_bytes + wanted - 1, level);
}

/* As dataset_prefetch_frame, for a single record that is checked next. Its last line is prefetched
 * as well: it often lies in another page, and translating that address takes as long as loading the
 * bytes. */
ALWAYS_INLINE void dataset_prefetch_one(const recmap_dataset *dataset, const uint8_t *frame_bytes,
                                        uint64_t size) {
    enum prefetch_level level = dataset->outgrows_caches ? PREFETCH_FIRST_ALONE
                                                         : PREFETCH_FIRST_LEVEL;
    dataset_prefetch_frame(dataset, frame_bytes, size, level);
    if (dataset->check != FRAME_CHECK_HEADER) prefetch_line(frame_bytes + size - 1, level);
}

/* Called before a record is located: prefetches near the place that the index can estimate without
 * waiting, so that the CPU translates the page's address while the exact place is still being
 * loaded. The two waits then overlap. */
void dataset_prefetch_page(const recmap_dataset *dataset, uint64_t number);

/* Finds the frame that the index says lies at `place` in a window of its shard, checks it against
 * the data set's policy, and gives its payload.
 * Errors: CORRUPT (also if the frame is not within the window), STALE, IO, naming shard, record and
 * byte. */
recmap_status dataset_check_frame(recmap_record *record, const recmap_dataset *dataset,
                                  const struct shard_window *window,
                                  const struct index_place *place, uint64_t number,
                                  recmap_error *error);

/* The same, but checks as much as `check` says. */
recmap_status dataset_check_frame_as(recmap_record *record, const recmap_dataset *dataset,
                                     enum frame_check check, const struct shard_window *window,
                                     const struct index_place *place, uint64_t number,
                                     recmap_error *error);

/* Called when the data set closes. Frees the buffers of records that were copied and never
 * released. */
void record_buffers_destroy(recmap_dataset *dataset);

#endif
