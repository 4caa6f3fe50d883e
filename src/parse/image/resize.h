/* Scales a rectangle while its rows arrive: the vertical filter runs over the last rows, which stay
 * in the cache, the horizontal one over its result. Pure, integers only, so all paths give the same
 * bytes. docs/formats/images.md specifies the arithmetic. */
#ifndef RECMAP_PARSE_IMAGE_RESIZE_H
#define RECMAP_PARSE_IMAGE_RESIZE_H

#include "parse/image/filter.h"

enum {
    RESIZE_FRACTION_BITS = 6, /* kept between the two filters */
    RESIZE_SLACK = 64,        /* bytes that may be touched past the end of a row */
    RESIZE_LEAD = 64,         /* and before its begin */
};

/* Rows of 8-bit samples. `rows` has `taps` pointers; `size` samples are filtered into `line`. */
typedef void resize_down_fn(int16_t *line, const uint8_t *const *rows, const int16_t *weights,
                            uint32_t taps, size_t size);

/* Filters a line into a row of `filter->count` pixels. */
typedef void resize_across_fn(uint8_t *row, const int16_t *line, const struct filter *filter,
                              unsigned channels);

struct resize_path {
    resize_down_fn *down;
    resize_across_fn *across;
};

extern const struct resize_path resize_portable;

#if defined(__x86_64__) && !defined(RECMAP_PORTABLE)
#define RESIZE_AVX2 1
extern const struct resize_path resize_avx2;
#endif

/* Every 64-bit ARM has NEON. */
#if defined(__AARCH64EL__) && !defined(RECMAP_PORTABLE)
#define RESIZE_NEON 1
extern const struct resize_path resize_neon;
#endif

/* The fastest path that this CPU has. */
const struct resize_path *resize_best_path(void);

struct resize {
    const struct resize_path *path;
    struct filter x, y;
    unsigned channels;
    bool is_wide;       /* 16-bit samples */
    bool is_copy;       /* nothing is scaled */
    size_t row_size;    /* samples of a source row */
    size_t row_bytes;   /* with lead and slack */
    uint32_t ring_rows; /* source rows that are kept */
    uint32_t next;      /* the first row of the result that is not made */
    uint8_t *ring;
    void *line;
    void *result; /* a row of the result, with slack */
    const uint8_t **taps;
    void *memory;
    size_t memory_size;
};

/* Takes finished rows of the result, in order: 8-bit or 16-bit samples. */
typedef void resize_row_fn(void *context, uint32_t y, const void *row);

/* Prepares the scaling of a rectangle. The source pixels that it needs are [x.begin, x.end) and
 * [y.begin, y.end) of the filters, counted from the sides' first ones. Returns false if memory
 * runs out. */
bool resize_start(struct resize *resize, const struct side *x, const struct side *y,
                  unsigned channels, bool is_wide, recmap_interpolation interpolation,
                  bool antialias);
void resize_deinit(struct resize *resize);

/* The place for source row `y`, counted from y.begin. */
void *resize_source_row(struct resize *resize, uint32_t y);

/* Source row `y` is complete: makes the rows of the result that need no later ones. */
void resize_advance(struct resize *resize, uint32_t y, resize_row_fn *put, void *context);

#endif
