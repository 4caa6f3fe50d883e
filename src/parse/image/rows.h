/* Between a decoder and the pixels: a decoder gives rows of samples as it makes them, and they are
 * converted to the wanted channels, scaled, turned, and written as elements. */
#ifndef RECMAP_PARSE_IMAGE_ROWS_H
#define RECMAP_PARSE_IMAGE_ROWS_H

#include "parse/image/header.h"
#include "parse/image/rectangle.h"
#include "parse/image/resize.h"

/* The samples of a decoder's rows. Those of 16 bits are in the order of this CPU. */
enum sample_layout {
    SAMPLES_GRAY,
    SAMPLES_GRAY_ALPHA,
    SAMPLES_RGB,
    SAMPLES_RGBA,
    SAMPLES_CMYK,          /* 0: without ink */
    SAMPLES_CMYK_INVERTED, /* 255: without ink, as Adobe writes it */
};

struct image_rows {
    struct resize resize;
    recmap_image_mode mode;
    bool is_wide; /* of the pixels: 16 bits */
    /* What the decoder gives. */
    enum sample_layout layout;
    bool has_wide_samples;
    uint32_t first_column; /* of the rows; a row has all columns up to the wanted end */
    uint32_t first_row;    /* that is wanted; earlier ones are ignored */
    uint32_t end_row;
    uint32_t wanted_column;
    uint32_t wanted_width;
    uint32_t next_row;
    bool has_warnings; /* the decoder found faults that it can live with */
    /* Where the pixels go. */
    uint8_t *pixels;
    size_t pixel_size; /* bytes */
    int64_t across;    /* bytes from a pixel of a stored row to the next one */
    int64_t down;      /* and from a stored row to the next one */
    const void *table; /* of each channel, 256 elements, for floating-point elements */
};

/* The part of the stored picture that the rectangle needs. */
struct region {
    uint32_t x, y, width, height;
};

/* Says what the rows will be. Call it before the first row; false if this conversion would lose
 * meaning: 16-bit gray to 8 bits. */
bool image_rows_begin(struct image_rows *rows, enum sample_layout layout, bool has_wide_samples,
                      uint32_t first_column);

/* The place where a decoder can write the `width` pixels of stored row `y`, so that image_rows_put
 * need not copy them; other memory does as well. NULL if the row is not wanted, its samples are to
 * be converted, or it has more pixels around the wanted ones than there is room for. */
void *image_rows_place(struct image_rows *rows, uint32_t y, uint32_t width);

/* Takes stored row `y`. Rows come in order; rows that are not wanted are ignored. */
void image_rows_put(struct image_rows *rows, uint32_t y, const void *samples);

/* The number of wanted rows that were not put yet. */
static inline uint32_t image_rows_left(const struct image_rows *rows) {
    return rows->end_row - rows->next_row;
}

#endif
