#include "parse/image/rows.h"

#include <string.h>

#include "parse/image/convert.h"

bool image_rows_begin(struct image_rows *rows, enum sample_layout layout, bool has_wide_samples,
                      uint32_t first_column) {
    bool is_gray = layout == SAMPLES_GRAY || layout == SAMPLES_GRAY_ALPHA;
    if (has_wide_samples && is_gray && !rows->is_wide) return false;
    rows->layout = layout;
    rows->has_wide_samples = has_wide_samples;
    rows->first_column = first_column;
    return true;
}

/* Copies pixels `across` bytes apart. Inlined for each size, because a call of memcpy for each
 * pixel takes longer than filtering it. */
static inline __attribute__((always_inline)) void
spread(uint8_t *out, int64_t across, const uint8_t *samples, uint32_t width, size_t size) {
    for (uint32_t x = 0; x < width; x++) memcpy(out + across * x, samples + size * x, size);
}

static void write_pixels(const struct image_rows *rows, uint8_t *out, const uint8_t *samples) {
    const uint32_t width = rows->resize.x.count;
    const int64_t across = rows->across;
    if (across == (int64_t)rows->pixel_size) {
        memcpy(out, samples, width * rows->pixel_size);
        return;
    }
    switch (rows->pixel_size) {
    case 1: spread(out, across, samples, width, 1); return;
    case 3: spread(out, across, samples, width, 3); return;
    case 4: spread(out, across, samples, width, 4); return;
    default: spread(out, across, samples, width, rows->pixel_size); return;
    }
}

/* Looks up the element of each sample: `size` bytes, one table of 256 for each channel. */
static inline __attribute__((always_inline)) void
look_up(const struct image_rows *rows, uint8_t *out, const uint8_t *samples, size_t size) {
    const uint32_t width = rows->resize.x.count;
    const unsigned channels = rows->resize.channels;
    const uint8_t *table = (const uint8_t *)rows->table;
    for (uint32_t x = 0; x < width; x++, out += rows->across)
        for (unsigned c = 0; c < channels; c++, samples++)
            memcpy(out + c * size, table + (256 * c + *samples) * size, size);
}

/* Writes a row of samples as elements, each pixel at its place in the turned result. */
static void write_row(void *context, uint32_t y, const void *row) {
    const struct image_rows *rows = context;
    uint8_t *out = rows->pixels + (int64_t)y * rows->down;
    if (!rows->table) write_pixels(rows, out, row);
    else if (rows->pixel_size == sizeof(float) * rows->resize.channels)
        look_up(rows, out, row, sizeof(float));
    else look_up(rows, out, row, rows->pixel_size / rows->resize.channels);
}

/* Bytes of a row before the wanted pixels. */
static size_t skipped_size(const struct image_rows *rows) {
    const size_t sample = rows->has_wide_samples ? 2 : 1;
    return (size_t)(rows->wanted_column - rows->first_column) * layout_channels(rows->layout) *
           sample;
}

void *image_rows_place(struct image_rows *rows, uint32_t y, uint32_t width) {
    const bool is_copy = !rows->has_wide_samples && !rows->is_wide &&
                         convert_is_copy(rows->mode, rows->layout);
    if (y != rows->next_row || y >= rows->end_row || !is_copy) return NULL;
    const size_t before = skipped_size(rows);
    const size_t all = (size_t)width * rows->resize.channels;
    if (before > RESIZE_LEAD || all - before - rows->resize.row_size > RESIZE_SLACK) return NULL;
    return (uint8_t *)resize_source_row(&rows->resize, y - rows->first_row) - before;
}

void image_rows_put(struct image_rows *rows, uint32_t y, const void *samples) {
    if (y != rows->next_row || y >= rows->end_row) return;
    const uint8_t *wanted = (const uint8_t *)samples + skipped_size(rows);
    const uint32_t row = y - rows->first_row;
    uint8_t *place = resize_source_row(&rows->resize, row);
    if (wanted != place)
        convert_samples(place, rows->mode, rows->is_wide, wanted, rows->layout,
                        rows->has_wide_samples, rows->wanted_width);
    rows->next_row++;
    resize_advance(&rows->resize, row, write_row, rows);
}
