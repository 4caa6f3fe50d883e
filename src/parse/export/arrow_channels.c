#include "parse/export/arrow_channels.h"

#include <string.h>

bool arrow_is_channels_first(const recmap_parser *parser, const struct column_plan *column) {
    return column->feature.kind == RECMAP_FEATURE_IMAGE && column->feature.dimension_count &&
           parser->images[column->part].plan.image.layout == RECMAP_IMAGE_CHW;
}

bool arrow_channels_shape(const uint64_t **dimensions, struct arrow_box *box) {
    const uint64_t *last = *dimensions, shape[] = {last[2], last[0], last[1]};
    *dimensions = arena_copy(&box->memory, shape, sizeof shape);
    return *dimensions;
}

/* All dimensions before the last three are in C order, so a picture follows the other. */
bool arrow_channels_copy(const void **elements, struct arrow_box *box,
                         const recmap_column *column) {
    const size_t size = recmap_element_size(column->element);
    const uint64_t *shape = column->shape + column->dimension_count - 3;
    const uint64_t pixels = shape[1] * shape[2], picture = pixels * shape[0];
    uint8_t *copy = arena_allocate(&box->memory, column->value_count * size), *out = copy;
    if (!copy) return false;
    for (uint64_t first = 0; first < column->value_count; first += picture)
        for (uint64_t channel = 0; channel < shape[0]; channel++)
            for (uint64_t i = 0; i < pixels; i++, out += size)
                memcpy(out,
                       (const uint8_t *)column->values + (first + i * shape[0] + channel) * size,
                       size);
    *elements = copy;
    return true;
}
