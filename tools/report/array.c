#include "report/array.h"

#include <inttypes.h>
#include <string.h>

#include <recmap/image.h>

enum { SIDE_SHOWN_MAX = 256, DIMENSION_MAX = 1 << 20 };

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

static bool is_channel_count(int64_t count) {
    return count == 1 || count == 3 || count == 4;
}

/* Three dimensions of which only the first can be channels have them there. */
static void set_shape(struct array_shape *shape, const int64_t *dimensions, size_t count) {
    bool is_first = count == 3 && is_channel_count(dimensions[0]) &&
                    !is_channel_count(dimensions[2]);
    const int64_t *sides = dimensions + is_first;
    set_dimension(&shape->height, sides[0]);
    set_dimension(&shape->width, sides[1]);
    if (count < 3) return;
    set_dimension(&shape->channels, dimensions[is_first ? 0 : 2]);
    shape->layout = is_first ? ARRAY_CHANNELS_FIRST : ARRAY_CHANNELS_LAST;
}

void array_shape_add(struct array_shape *shape, const recmap_example_part *part) {
    if (part->kind != RECMAP_EXAMPLE_PART_FEATURE || part->type != RECMAP_TYPE_INT64) return;
    if (is_named(part, "shape") && (part->count == 2 || part->count == 3))
        set_shape(shape, part->int64s, part->count);
    if (part->count != 1) return;
    if (is_named(part, "height")) set_dimension(&shape->height, part->int64s[0]);
    if (is_named(part, "width")) set_dimension(&shape->width, part->int64s[0]);
    if (is_named(part, "channels") || is_named(part, "depth"))
        set_dimension(&shape->channels, part->int64s[0]);
}

static uint64_t channels_of(const struct array_shape *shape) {
    return shape->channels ? shape->channels : 1;
}

bool array_shape_matches(const struct array_shape *shape, uint64_t count) {
    const uint64_t channels = channels_of(shape);
    if (!shape->height || !shape->width || channels == 2 || channels > 4) return false;
    return count == shape->height * shape->width * channels;
}

/* The sum of the differences of bytes that are `distance` apart. */
static uint64_t difference(const uint8_t *pixels, size_t count, size_t distance) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        int change = pixels[i] - pixels[i + distance];
        sum += (uint64_t)(change < 0 ? -change : change);
    }
    return sum;
}

/* The next row is `width` bytes away if channels are first, and `width * channels` otherwise. */
enum array_layout array_layout_of(const struct array_shape *shape, const uint8_t *pixels) {
    const size_t channels = (size_t)channels_of(shape), width = (size_t)shape->width;
    if (shape->layout != ARRAY_UNKNOWN || channels == 1)
        return channels == 1 ? ARRAY_CHANNELS_LAST : shape->layout;
    const size_t count = (size_t)(shape->height - 1) * width * channels;
    return difference(pixels, count, width) < difference(pixels, count, width * channels)
               ? ARRAY_CHANNELS_FIRST
               : ARRAY_CHANNELS_LAST;
}

const char *array_describe(char text[ARRAY_TEXT_SIZE], const struct array_shape *shape,
                           const uint8_t *pixels) {
    if (array_layout_of(shape, pixels) == ARRAY_CHANNELS_FIRST)
        snprintf(text, ARRAY_TEXT_SIZE,
                 "uint8 array, %" PRIu64 " x %" PRIu64 " x %" PRIu64 ", channels first",
                 shape->channels, shape->height, shape->width);
    else
        snprintf(text, ARRAY_TEXT_SIZE, "uint8 array, %" PRIu64 " x %" PRIu64 " x %" PRIu64,
                 shape->height, shape->width, channels_of(shape));
    return text;
}

/* How far the bytes of an array are apart, and which of its pixels are shown. */
struct grid {
    size_t row, column, channel; /* bytes to the next one */
    uint64_t step;
};

static struct grid grid_of(const struct array_shape *shape, const uint8_t *pixels) {
    const size_t channels = (size_t)channels_of(shape);
    const size_t width = (size_t)shape->width, height = (size_t)shape->height;
    const uint64_t longest = width > height ? width : height;
    struct grid grid = {width * channels, channels, 1,
                        (longest + SIDE_SHOWN_MAX - 1) / SIDE_SHOWN_MAX};
    if (array_layout_of(shape, pixels) == ARRAY_CHANNELS_FIRST) {
        grid.row = width;
        grid.column = 1;
        grid.channel = width * height;
    }
    return grid;
}

/* Large arrays are reduced: every pixel shown is one of the array's. Of four channels the last is
 * left out. */
recmap_status array_to_png(recmap_text *png, const struct array_shape *shape, const uint8_t *pixels,
                           recmap_error *error) {
    static uint8_t shown[SIDE_SHOWN_MAX * SIDE_SHOWN_MAX * 3];
    const struct grid grid = grid_of(shape, pixels);
    const uint32_t width = (uint32_t)((shape->width + grid.step - 1) / grid.step);
    const uint32_t height = (uint32_t)((shape->height + grid.step - 1) / grid.step);
    const bool is_gray = channels_of(shape) == 1;
    uint8_t *next = shown;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (size_t c = 0; c < (is_gray ? 1 : 3); c++)
                *next++ = pixels[y * grid.step * grid.row + x * grid.step * grid.column +
                                 c * grid.channel];
    return recmap_image_to_png(png, shown, height, width,
                               is_gray ? RECMAP_IMAGE_GRAY : RECMAP_IMAGE_RGB, error);
}
