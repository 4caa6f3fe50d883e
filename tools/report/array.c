#include "report/array.h"

#include <inttypes.h>
#include <string.h>

enum { SIDE_SHOWN_MAX = 256, HEADER_SIZE = 54, DIMENSION_MAX = 1 << 20 };

_Static_assert(ARRAY_BITMAP_SIZE_MAX == HEADER_SIZE + 3 * SIDE_SHOWN_MAX * SIDE_SHOWN_MAX,
               "room for the largest bitmap");

/* True if the name is `word`, or ends with it after a slash. */
static bool is_named(const recmap_example_part *part, const char *word) {
    size_t size = strlen(word);
    if (part->name_size < size || memcmp(part->name + part->name_size - size, word, size) != 0)
        return false;
    return part->name_size == size || part->name[part->name_size - size - 1] == '/';
}

static void set_dimension(uint64_t *dimension, int64_t value) {
    if (value > 0 && value <= DIMENSION_MAX) *dimension = (uint64_t)value;
}

void array_shape_add(struct array_shape *shape, const recmap_example_part *part) {
    if (part->kind != RECMAP_EXAMPLE_PART_FEATURE || part->type != RECMAP_TYPE_INT64) return;
    if (is_named(part, "shape") && (part->count == 2 || part->count == 3)) {
        set_dimension(&shape->height, part->int64s[0]);
        set_dimension(&shape->width, part->int64s[1]);
        if (part->count == 3) set_dimension(&shape->channels, part->int64s[2]);
    }
    if (part->count != 1) return;
    if (is_named(part, "height")) set_dimension(&shape->height, part->int64s[0]);
    if (is_named(part, "width")) set_dimension(&shape->width, part->int64s[0]);
    if (is_named(part, "channels") || is_named(part, "depth"))
        set_dimension(&shape->channels, part->int64s[0]);
}

bool array_shape_matches(const struct array_shape *shape, uint64_t count) {
    uint64_t channels = shape->channels ? shape->channels : 1;
    if (!shape->height || !shape->width || channels == 2 || channels > 4) return false;
    return count == shape->height * shape->width * channels;
}

static void put32(uint8_t *data, uint32_t value) {
    for (int i = 0; i < 4; i++) data[i] = (uint8_t)(value >> 8 * i);
}

/* The header of a BMP file of 24 bits per pixel, whose rows are stored from the bottom up. */
static void make_header(uint8_t *header, uint32_t width, uint32_t height, uint32_t row_size) {
    memset(header, 0, HEADER_SIZE);
    memcpy(header, "BM", 2);
    put32(header + 2, HEADER_SIZE + row_size * height);
    put32(header + 10, HEADER_SIZE);
    put32(header + 14, 40);
    put32(header + 18, width);
    put32(header + 22, height);
    header[26] = 1;
    header[28] = 24;
}

/* Writes one pixel as blue, green, red. */
static void set_pixel(uint8_t *target, const uint8_t *source, uint64_t channels) {
    for (int i = 0; i < 3; i++) target[i] = source[channels >= 3 ? 2 - i : 0];
}

/* Large arrays are reduced: every pixel shown is one of the array's. */
size_t array_make_bitmap(uint8_t *bitmap, const struct array_shape *shape, const uint8_t *pixels) {
    uint64_t channels = shape->channels ? shape->channels : 1;
    uint64_t longest = shape->width > shape->height ? shape->width : shape->height;
    uint64_t step = (longest + SIDE_SHOWN_MAX - 1) / SIDE_SHOWN_MAX;
    uint32_t width = (uint32_t)((shape->width + step - 1) / step);
    uint32_t height = (uint32_t)((shape->height + step - 1) / step);
    uint32_t row_size = (width * 3 + 3) / 4 * 4;
    make_header(bitmap, width, height, row_size);
    memset(bitmap + HEADER_SIZE, 0, (size_t)row_size * height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            set_pixel(bitmap + HEADER_SIZE + (size_t)(height - 1 - y) * row_size + (size_t)x * 3,
                      pixels + (y * step * shape->width + x * step) * channels, channels);
    return HEADER_SIZE + (size_t)row_size * height;
}

size_t array_write(struct html *html, const struct array_shape *shape, const uint8_t *pixels) {
    static uint8_t bitmap[ARRAY_BITMAP_SIZE_MAX];
    size_t size = array_make_bitmap(bitmap, shape, pixels);
    html_put(html, "<img class=\"array\" alt=\"array\" src=\"data:image/bmp;base64,");
    html_base64(html, bitmap, size);
    html_format(html,
                "\"><div class=\"note\">uint8 array, %" PRIu64 " x %" PRIu64 " x %" PRIu64 "</div>",
                shape->height, shape->width, shape->channels ? shape->channels : 1);
    return size;
}
