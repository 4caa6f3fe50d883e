/* How many values are pictures, and which size most of them have. */
#ifndef RECMAP_PARSE_EXAMPLE_PICTURE_STATS_H
#define RECMAP_PARSE_EXAMPLE_PICTURE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PICTURE_SIZES = 8 };

struct picture_size {
    uint32_t height;
    uint32_t width;
    uint64_t count;
};

/* Zero it to begin. Few sizes are kept, whatever the records contain: a new one replaces the rarest
 * and takes over its count. A size that more than an eighth of the pictures have is always kept. */
struct picture_stats {
    uint64_t count;     /* also of pictures whose headers are damaged */
    bool has_wide_gray; /* 16 bits */
    uint64_t turned_count;
    struct picture_size sizes[PICTURE_SIZES];
};

/* Adds a value of bytes, which need not be a picture. */
void picture_stats_add(struct picture_stats *stats, const void *data, size_t size);

/* The most frequent size; zeros if there is none. */
struct picture_size picture_stats_size(const struct picture_stats *stats);

#endif
