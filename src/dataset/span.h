/* The spans of an open compressed shard: from one point to the next. One that is long, since its
 * deflate blocks are, is inflated piece by piece, so that memory is bounded. */
#ifndef RECMAP_DATASET_SPAN_H
#define RECMAP_DATASET_SPAN_H

#include "dataset/span_cache.h"
#include "dataset/waypoints.h"
#include "index/index.h"
#include "os/map.h"

/* Up to the first size a span is inflated as a whole, else in pieces of the second. */
#define SPAN_WHOLE_MAX ((uint64_t)64 << 20)
#define SPAN_PIECE ((uint64_t)16 << 20)

/* What the spans of one shard are inflated from. */
struct span_source {
    const struct shard_entry *entry;
    const struct point_list *points;
    const struct file_map *map; /* NULL: read with pread */
    int fd;
    struct waypoints *waypoints; /* of long spans */
};

/* What is inflated at once: bytes [begin, end) of the image. */
struct span_piece {
    uint64_t span_index;
    uint64_t begin, end;
};

/* Span 0 begins where the shard does, span i at point i - 1. */
uint64_t span_begin(const struct span_source *source, uint64_t span_index);
uint64_t span_end(const struct span_source *source, uint64_t span_index);

/* The span in which a byte of the image lies. */
uint64_t span_at(const struct span_source *source, uint64_t offset);

struct span_piece span_piece_at(const struct span_source *source, uint64_t offset);

/* Where the compressed bytes of a span lie in the file. */
uint64_t span_file_begin(const struct span_source *source, uint64_t span_index);
uint64_t span_file_end(const struct span_source *source, uint64_t span_index);

/* Inflates it: data up to the first damage, and then an error that names file and compressed byte.
 */
void span_inflate(struct span *span, const struct span_source *source, struct span_piece piece);

#endif
