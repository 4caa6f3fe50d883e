/* The seek points of compressed shards: where inflating can begin. Their windows are kept deflated.
 * Pure: points to bytes and back. docs/index-format.md specifies the bytes. */
#ifndef RECMAP_INDEX_POINTS_H
#define RECMAP_INDEX_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/inflate.h"

/* More points than this of a shard go into further values. */
enum { POINTS_PER_VALUE = 4096 };

struct stored_point {
    uint64_t bit;    /* of the file */
    uint64_t offset; /* in the shard's image */
    const uint8_t *packed;
    uint32_t packed_size;
    uint32_t window_size; /* of the window, inflated */
};

struct window_packer;

/* The points of one shard, ascending. */
struct point_list {
    struct stored_point *at;
    size_t count;
    size_t capacity;
    uint64_t packed_size;         /* of all windows */
    bool owns;                    /* the windows: else they lie in the index */
    struct window_packer *packer; /* while points are added */
};

void points_free(struct point_list *points);

/* Deflates the point's window and adds it. False when memory is out. */
bool points_add(struct point_list *points, const struct seek_point *point);

/* No more are added. Forgets points at which nothing more comes: those at an image's end. */
void points_end(struct point_list *points, uint64_t image_size);

/* Bytes that the list takes in the index. */
uint64_t points_size(const struct point_list *points);

size_t points_value_count(uint64_t point_count);

/* The value of `count` points from `first` on: malloc'ed, or NULL when memory is out. */
uint8_t *points_encode(size_t *size, const struct point_list *points, size_t first, size_t count);

typedef enum points_verdict { POINTS_OK, POINTS_BAD, POINTS_NO_MEMORY } points_verdict;

/* Adds the `count` points of a value to those before, which must lie before them; all must lie
 * within a file and an image of these sizes. The windows stay where they are. */
points_verdict points_decode(struct point_list *points, const uint8_t *data, size_t size,
                             size_t count, uint64_t file_size, uint64_t image_size);

/* The last point at or before `offset` of the image; SIZE_MAX: the shard's beginning. */
size_t points_find(const struct point_list *points, uint64_t offset);

/* Inflates a point's window into INFLATE_WINDOW_MAX bytes. BAD when it is none. */
points_verdict points_unpack(uint8_t *window, const struct stored_point *point);

#endif
