/* The spans of an open compressed shard, each from one seek point to the next. A span may be long,
 * if the stream has long deflate blocks; it is then inflated in pieces, so that memory is bounded.
 */
#ifndef RECMAP_DATASET_SPANS_SPAN_H
#define RECMAP_DATASET_SPANS_SPAN_H

#include "base/os/map.h"
#include "base/os/source.h"
#include "dataset/spans/span_cache.h"
#include "dataset/spans/waypoints.h"
#include "index/tables/index.h"

/* A span up to the first size is inflated as a whole; a longer one in pieces of the second size. */
#define SPAN_WHOLE_MAX ((uint64_t)64 << 20)
#define SPAN_PIECE ((uint64_t)SPAN_CHECKED_SIZE)

/* The compressed bytes of one shard and its seek points. */
struct span_source {
    const struct shard_entry *entry;
    const char *path;                /* for messages */
    const struct point_list *points; /* with the checks of the spans */
    const struct file_map *map;      /* NULL: read from the source */
    struct source *source;
    struct waypoints *waypoints; /* within long spans */
    /* Reads compressed bytes once more, or sets `is_possible` to false; NULL if they are not in a
     * local file. */
    recmap_status (*read_again)(bool *is_possible, void *context, void *data, size_t size,
                                uint64_t offset, recmap_error *error);
    void *context;
};

/* The unit of inflating: bytes [begin, end) of the shard's inflated image. */
struct span_piece {
    uint64_t span_index;
    uint64_t begin, end;
};

/* Offsets in the inflated image. Span 0 begins at the start, span i at seek point i - 1. */
uint64_t span_begin(const struct span_source *source, uint64_t span_index);
uint64_t span_end(const struct span_source *source, uint64_t span_index);

/* The span that contains a byte of the image. */
uint64_t span_at(const struct span_source *source, uint64_t offset);

struct span_piece span_piece_at(const struct span_source *source, uint64_t offset);

/* The range of a span's compressed bytes in the file. */
uint64_t span_file_begin(const struct span_source *source, uint64_t span_index);
uint64_t span_file_end(const struct span_source *source, uint64_t span_index);

/* Inflates a piece and checks it. Bytes of a local file that seem to be damaged are read once more.
 * On failure `span` has an error that
 * names the file and the compressed byte. It has data then only if the stream was damaged when it
 * was indexed: the bytes before the damage. */
void span_inflate(struct span *span, const struct span_source *source, struct span_piece piece);

#endif
