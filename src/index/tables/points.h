/* Seek points of compressed shards: places where inflating can start. Their windows are stored
 * deflated. Pure: points to bytes and back. docs/formats/index-format.md specifies the bytes. */
#ifndef RECMAP_INDEX_TABLES_POINTS_H
#define RECMAP_INDEX_TABLES_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/deflate/inflate.h"

enum {
    POINTS_PER_VALUE = 4096,      /* a shard with more points has several values in the store */
    SPAN_CHECKED_SIZE = 16 << 20, /* of a span, each as many bytes have a check, and the rest */
};

struct stored_point {
    uint64_t bit;          /* in the file; bit 0 is the lowest of byte 0 */
    uint64_t offset;       /* in the shard's image */
    const uint8_t *packed; /* the window, deflated; NULL if there is none */
    uint32_t packed_size;
    uint32_t window_size; /* inflated */
    size_t first_check;   /* of the span that starts here, among the list's checks */
};

struct window_packer;

/* The points of one shard, ascending, and the checks of its spans, in order. Span 0 starts at the
 * beginning of the image, span i at point i - 1. */
struct point_list {
    struct stored_point *at;
    size_t count;
    size_t capacity;
    uint64_t packed_size; /* of all windows */
    uint32_t *checks;     /* CRC-32C of SPAN_CHECKED_SIZE bytes of a span, or of its rest */
    size_t check_count;
    size_t check_capacity;
    bool owns;                    /* the windows are freed with the list; else the index has them */
    struct window_packer *packer; /* while points are added */
};

void points_deinit(struct point_list *points);

/* Deflates the point's window and adds it. False when memory is out. */
bool points_add(struct point_list *points, const struct seek_point *point);

/* Called after the last point was added. Removes points at the end of the image, after which no
 * bytes follow. */
void points_finish(struct point_list *points, uint64_t image_size);

/* Size of the list in the index. */
uint64_t points_size(const struct point_list *points);

/* The number of checks of a span. An empty span also has one. */
uint64_t span_check_count(uint64_t span_size);

/* Adds the next check of the current span. False when memory is out. */
bool points_add_check(struct point_list *points, uint32_t check);

/* Called after all points and checks were added: divides the checks among the spans. False if their
 * number does not fit the spans of an image of this size. */
bool points_divide_checks(struct point_list *points, uint64_t image_size);

/* The checks of a span: span_check_count of its size. */
const uint32_t *points_checks(const struct point_list *points, size_t span_index);

/* The number of values of a compressed shard. */
size_t points_value_count(uint64_t point_count);

/* Encodes `count` points from `first` on and the checks of the spans that start there; with the
 * first of them also the checks of span 0. The result is allocated with malloc; NULL if memory is
 * out. */
uint8_t *points_encode(size_t *size, const struct point_list *points, size_t first, size_t count);

enum points_verdict { POINTS_OK, POINTS_BAD, POINTS_NO_MEMORY };

/* Decodes the `count` points of a value and its checks, and adds them to the list. BAD if they do
 * not ascend, also from the points already in the list, or do not lie within a file and an image of
 * these sizes. The windows are not copied. */
enum points_verdict points_decode(struct point_list *points, const uint8_t *data, size_t size,
                                  size_t count, uint64_t file_size, uint64_t image_size);

/* The last point at or before `offset` of the image; SIZE_MAX if there is none: start at the
 * beginning of the file. */
size_t points_find(const struct point_list *points, uint64_t offset);

/* Inflates a point's window into `window`, which has INFLATE_WINDOW_MAX bytes. BAD if the packed
 * bytes are not a window of the stated size. */
enum points_verdict points_unpack(uint8_t *window, const struct stored_point *point);

#endif
