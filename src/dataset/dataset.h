/* What the parts of the data set share. */
#ifndef RECMAP_DATASET_DATASET_H
#define RECMAP_DATASET_DATASET_H

#include <recmap/dataset.h>

#include "base/bytes.h"
#include "dataset/shard_cache.h"
#include "format/framing.h"
#include "index/index.h"
#include "scan/extract.h"

struct record_buffer;

struct recmap_dataset {
    struct index_file *index;
    struct shard_cache *shards;
    const struct framing **framings; /* of each shard */
    frame_check check;
    recmap_access access;
    bool outgrows_caches;          /* no record is likely to be wanted again while it is near */
    struct extractor *extractor;   /* reads the ids of records; NULL without ids */
    struct record_buffer *buffers; /* of records read with pread and not released; process lock */
    recmap_dataset_info info;
};

/* INVALID unless [first, first + count) are records. */
recmap_status dataset_check_range(const recmap_dataset *dataset, uint64_t first, uint64_t count,
                                  recmap_error *error);

/* How near a frame is fetched. Requests for the second-level cache hold others up less; those for
 * the first alone leave the index in the second. */
typedef enum fetch_level { FETCH_SECOND_LEVEL, FETCH_FIRST_LEVEL, FETCH_FIRST_ALONE } fetch_level;

/* Not more is fetched of a frame: more requests than the processor can hold only delay each other,
 * and what follows it fetches by itself. */
enum { FETCH_MAX = 512 };

/* gcc 12 takes a function that only asks for lines for one without effect, and leaves out its calls
 * where they are not inlined early. */
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

ALWAYS_INLINE void fetch_line(const uint8_t *line, fetch_level level) {
    if (level == FETCH_FIRST_ALONE) __builtin_prefetch(line, 0, 0);
    else if (level == FETCH_FIRST_LEVEL) __builtin_prefetch(line, 0, 3);
    else __builtin_prefetch(line, 0, 2);
}

/* Asks the processor to fetch what will be checked of a frame: all of its lines at once, since the
 * index knows the size before the header is there. */
ALWAYS_INLINE void dataset_fetch_frame(const recmap_dataset *dataset, const uint8_t *frame_bytes,
                                       uint64_t size, fetch_level level) {
    enum { LINE = 64 };
    uint64_t wanted = dataset->check == FRAME_CHECK_HEADER ? 1 : min_u64(size, FETCH_MAX);
    for (uint64_t at = 0; at < wanted; at += LINE) fetch_line(frame_bytes + at, level);
    fetch_line(frame_bytes + wanted - 1, level);
}

/* The same for a single record that is checked next. Its last line is asked for as well: it often
 * lies in another page, whose address takes as long to look up as the bytes to come. */
ALWAYS_INLINE void dataset_fetch_one(const recmap_dataset *dataset, const uint8_t *frame_bytes,
                                     uint64_t size) {
    fetch_level level = dataset->outgrows_caches ? FETCH_FIRST_ALONE : FETCH_FIRST_LEVEL;
    dataset_fetch_frame(dataset, frame_bytes, size, level);
    if (dataset->check != FRAME_CHECK_HEADER) fetch_line(frame_bytes + size - 1, level);
}

/* To be called before the record is located: has the processor look up the address of the page that
 * it is in, by the place that the index knows at once, while the exact one is still on its way. The
 * two waits then pass together. */
void dataset_reach(const recmap_dataset *dataset, uint64_t number);

/* Finds the frame that the index says lies at `place` in a window of its shard, checks it against
 * the data set's policy, and gives its payload.
 * Errors: CORRUPT (also if the frame is not within the window), STALE, IO, naming shard, record and
 * byte. */
recmap_status dataset_check_frame(recmap_record *record, const recmap_dataset *dataset,
                                  const struct shard_window *window,
                                  const struct index_place *place, uint64_t number,
                                  recmap_error *error);

/* Frees the buffers of records that were copied and never released; when the data set closes. */
void record_buffers_free(recmap_dataset *dataset);

#endif
