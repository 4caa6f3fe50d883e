#include "parse/columns/image_assembly.h"

/* Sets the strides of C order, before any dimension is moved. */
static int64_t *set_strides(const struct assembly *a) {
    const size_t count = a->column->dimension_count;
    int64_t *strides = assembly_reserve(a, BATCH_PART_STRIDES, count, sizeof *strides);
    if (!strides) return NULL;
    int64_t stride = 1;
    for (size_t i = count; i-- > 0; stride *= (int64_t)a->column->shape[i]) strides[i] = stride;
    a->column->strides = strides;
    return strides;
}

/* Shows the last three dimensions as channels, height and width. The memory stays as it is. */
static bool move_channels_first(const struct assembly *a) {
    int64_t *strides = set_strides(a);
    if (!strides) return false;
    uint64_t *shape =
        buffer_uint64(batch_memory_part(a->memory, a->column_index, BATCH_PART_SHAPE));
    const size_t first = a->column->dimension_count - PIXEL_DIMENSIONS;
    const uint64_t channels = shape[first + 2];
    const int64_t stride = strides[first + 2];
    for (size_t i = first + 2; i > first; i--) {
        shape[i] = shape[i - 1];
        strides[i] = strides[i - 1];
    }
    shape[first] = channels;
    strides[first] = stride;
    return true;
}

/* The pixels of all rows one after the other, and the shape of each row. */
static bool assemble_shapes(const struct assembly *a, const struct image_feature *image) {
    const int64_t *offsets = buffer_int64(&a->sink->rows);
    a->column->picture_shapes =
        buffer_int64(&batch_memory_output(a->memory, image->shapes)->values);
    return assembly_set_offsets(a, &offsets, 1) &&
           assembly_set_shape(a, a->sink->value_count, NULL, 0) &&
           assembly_set_values(a, a->sink->values.data, a->sink->value_count);
}

bool assemble_image(const struct assembly *a) {
    const recmap_feature *feature = &a->plan->feature;
    const struct image_feature *image = &a->memory->parser->images[a->plan->part];
    const uint64_t rows = a->memory->row_count;
    if (image->shapes != SIZE_MAX) return assemble_shapes(a, image);
    if (!assembly_set_shape(a, rows, feature->shape, feature->dimension_count)) return false;
    if (image->plan.image.layout == RECMAP_IMAGE_CHW && !move_channels_first(a)) return false;
    return assembly_set_values(a, a->sink->values.data, rows * a->plan->stride);
}
