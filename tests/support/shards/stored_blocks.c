#include "support/shards/stored_blocks.h"

#include <stdlib.h>

#include "base/core/crc32c.h"

static void must(bool holds) {
    if (!holds) abort();
}

static void add_point(struct point_list *points, const struct buffer *file,
                      const struct buffer *content, size_t offset) {
    size_t window = offset < INFLATE_WINDOW_MAX ? offset : INFLATE_WINDOW_MAX;
    struct seek_point point = {(uint64_t)file->size * 8, offset, content->data + offset - window,
                               (uint32_t)window};
    must(points_add(points, &point));
}

static void add_block(struct buffer *file, const uint8_t *data, size_t size, bool is_last) {
    buffer_add_byte(file, is_last);
    buffer_add_byte(file, (uint8_t)size);
    buffer_add_byte(file, (uint8_t)(size >> 8));
    buffer_add_byte(file, (uint8_t)~size);
    buffer_add_byte(file, (uint8_t)(~size >> 8));
    buffer_add(file, data, size);
}

/* The checksum of the member is not needed: no test reads past the last span. */
void add_stored_blocks(struct buffer *file, struct point_list *points, const struct buffer *content,
                       const size_t *sizes, size_t count) {
    size_t begin = 0;
    buffer_add(file, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    for (size_t i = 0; i < count; begin += sizes[i++]) {
        if (i) add_point(points, file, content, begin);
        add_block(file, content->data + begin, sizes[i], i == count - 1);
        must(points_add_check(points, crc32c(content->data + begin, sizes[i])));
    }
    buffer_add(file, "\0\0\0\0\0\0\0\0", 8);
    points_finish(points, begin);
    must(points_divide_checks(points, begin));
}
