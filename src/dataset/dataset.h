/* What the parts of the data set share. */
#ifndef RECMAP_DATASET_DATASET_H
#define RECMAP_DATASET_DATASET_H

#include <recmap/dataset.h>

#include "base/bytes.h"
#include "dataset/shard_cache.h"
#include "format/framing.h"
#include "index/extract.h"
#include "index/index.h"

typedef struct record_buffer record_buffer;

struct recmap_dataset {
    index_file *index;
    shard_cache *shards;
    const framing **framings; /* of each shard */
    frame_check check;
    recmap_access access;
    extractor *extractor;   /* reads the ids of records; NULL without ids */
    record_buffer *buffers; /* of records read with pread and not released; process lock */
    recmap_dataset_info info;
};

/* INVALID unless [first, first + count) are records. */
recmap_status dataset_check_range(const recmap_dataset *dataset, uint64_t first, uint64_t count,
                                  recmap_error *error);

/* How near a frame is fetched. Requests for the second-level cache hold others up less. */
typedef enum fetch_level { FETCH_SECOND_LEVEL, FETCH_FIRST_LEVEL } fetch_level;

/* Not more is fetched of a frame: more requests than the processor can hold only delay each other,
 * and what follows it fetches by itself. */
enum { FETCH_MOST = 512 };

static inline void fetch_line(const uint8_t *line, fetch_level level) {
    if (level == FETCH_FIRST_LEVEL) __builtin_prefetch(line, 0, 3);
    else __builtin_prefetch(line, 0, 2);
}

/* Asks the processor to fetch what will be checked of a frame: all of its lines at once, since the
 * index knows the size before the header is there. */
static inline void dataset_fetch_frame(const recmap_dataset *dataset, const uint8_t *frame_bytes,
                                       uint64_t size, fetch_level level) {
    enum { LINE = 64 };
    uint64_t wanted = dataset->check == FRAME_CHECK_HEADER ? 1 : min_u64(size, FETCH_MOST);
    for (uint64_t at = 0; at < wanted; at += LINE) fetch_line(frame_bytes + at, level);
    fetch_line(frame_bytes + wanted - 1, level);
}

/* Checks the frame that the index says lies at `place`, whose bytes are in memory, against the
 * dataset's policy, and gives its payload. `shard` is where they lie, NULL for a
 * copy.
 * Errors: CORRUPT, STALE, IO, naming shard, record and byte. */
recmap_status dataset_check_frame(recmap_record *record, const recmap_dataset *dataset,
                                  const open_shard *shard, const uint8_t *frame_bytes,
                                  const index_place *place, uint64_t number, recmap_error *error);

#endif
