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

/* Writes a row of samples as elements, each pixel at its place in the turned result. */
static void write_row(void *context, uint32_t y, const void *row) {
    struct image_rows *rows = context;
    const uint32_t width = rows->resize.x.count;
    const unsigned channels = rows->resize.channels;
    const size_t pixel_size = rows->pixel_size;
    uint8_t *out = rows->pixels + (int64_t)y * rows->down;
    const uint8_t *samples = row;
    if (rows->table) {
        const size_t element = pixel_size / channels;
        for (uint32_t x = 0; x < width; x++, out += rows->across)
            for (unsigned c = 0; c < channels; c++, samples++)
                memcpy(out + c * element,
                       (const uint8_t *)rows->table + (256 * c + *samples) * element, element);
        return;
    }
    if (rows->across == (int64_t)pixel_size) {
        memcpy(out, samples, width * pixel_size);
        return;
    }
    for (uint32_t x = 0; x < width; x++, out += rows->across, samples += pixel_size)
        memcpy(out, samples, pixel_size);
}

void image_rows_put(struct image_rows *rows, uint32_t y, const void *samples) {
    if (y != rows->next_row || y >= rows->end_row) return;
    const size_t sample = rows->has_wide_samples ? 2 : 1;
    const size_t skipped = (size_t)(rows->wanted_column - rows->first_column) *
                           layout_channels(rows->layout) * sample;
    uint32_t row = y - rows->first_row;
    convert_samples(resize_source_row(&rows->resize, row), rows->mode, rows->is_wide,
                    (const uint8_t *)samples + skipped, rows->layout, rows->has_wide_samples,
                    rows->wanted_width);
    rows->next_row++;
    resize_advance(&rows->resize, row, write_row, rows);
}
