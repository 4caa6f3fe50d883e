/* The spans of an open compressed shard: from one point to the next. One that is long, since its
 * deflate blocks are, is inflated piece by piece, so that memory is bounded. */
#ifndef RECMAP_DATASET_SPAN_H
#define RECMAP_DATASET_SPAN_H

#include "dataset/span_cache.h"
#include "dataset/waypoints.h"
#include "index/index.h"
#include "os/map.h"

/* Up to the first size a span is inflated as a whole, else in pieces of the second. */
#define SPAN_WHOLE_MOST ((uint64_t)64 << 20)
#define SPAN_PIECE ((uint64_t)16 << 20)

/* What the spans of one shard are inflated from. */
typedef struct span_source {
    const shard_entry *entry;
    const point_list *points;
    const file_map *map; /* NULL: read with pread */
    int fd;
    waypoints *waypoints; /* of long spans */
} span_source;

/* What is inflated at once: bytes [begin, end) of the image. */
typedef struct span_piece {
    uint64_t span_index;
    uint64_t begin, end;
} span_piece;

/* Span 0 begins where the shard does, span i at point i - 1. */
uint64_t span_begin(const span_source *source, uint64_t span_index);
uint64_t span_end(const span_source *source, uint64_t span_index);

/* The span in which a byte of the image lies. */
uint64_t span_at(const span_source *source, uint64_t offset);

span_piece span_piece_at(const span_source *source, uint64_t offset);

/* Where the compressed bytes of a span lie in the file. */
uint64_t span_file_begin(const span_source *source, uint64_t span_index);
uint64_t span_file_end(const span_source *source, uint64_t span_index);

/* Inflates it: data up to the first damage, and then an error that names file and compressed byte.
 */
void span_inflate(span *filled, const span_source *source, span_piece piece);

#endif
