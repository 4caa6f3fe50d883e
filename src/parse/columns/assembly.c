#include "parse/columns/assembly.h"

#include <string.h>

void *assembly_reserve(const struct assembly *a, size_t part, uint64_t count, size_t item_size) {
    struct buffer *reserved = batch_memory_part(a->memory, a->column_index, part);
    size_t size;
    if (__builtin_mul_overflow(count, item_size, &size)) return NULL;
    return buffer_reserve(reserved, 0, size) ? reserved->data : NULL;
}

bool assembly_set_shape(const struct assembly *a, uint64_t first, const uint64_t *more,
                        size_t more_count) {
    uint64_t *shape = assembly_reserve(a, BATCH_PART_SHAPE, more_count + 1, sizeof *shape);
    if (!shape) return false;
    shape[0] = first;
    for (size_t i = 0; i < more_count; i++) shape[i + 1] = more ? more[i] : 0;
    a->column->shape = shape;
    a->column->dimension_count = more_count + 1;
    return true;
}

/* Copies all values into one buffer. Their sizes are summed first, so that the buffer is reserved
 * once. */
static bool copy_bytes(const struct assembly *a, const recmap_bytes *views, uint64_t count) {
    int64_t *offsets = assembly_reserve(a, BATCH_PART_BYTES_OFFSETS, count + 1, sizeof *offsets);
    uint64_t total = 0;
    if (!offsets) return false;
    for (uint64_t i = 0; i < count; i++) {
        offsets[i] = (int64_t)total;
        total += views[i].size;
        if (total > INT64_MAX) return false;
    }
    offsets[count] = (int64_t)total;
    struct buffer *bytes = batch_memory_part(a->memory, a->column_index, BATCH_PART_BYTES);
    if (!buffer_reserve(bytes, 0, total)) return false;
    struct bytes_copy copy = {bytes->data, views, offsets, count};
    if (!batch_memory_copy_bytes(a->memory, &copy, a->interrupt)) return false;
    a->column->values = bytes->data;
    a->column->bytes_offsets = offsets;
    return true;
}

bool assembly_set_values(const struct assembly *a, const void *elements, uint64_t value_count) {
    recmap_column *column = a->column;
    column->value_count = value_count;
    if (column->element != RECMAP_ELEMENT_BYTES) {
        column->values = elements;
        return true;
    }
    if (a->plan->feature.bytes_mode == RECMAP_BYTES_COPY)
        return copy_bytes(a, elements, value_count);
    column->views = elements;
    return true;
}

bool assembly_set_offsets(const struct assembly *a, const int64_t *const *offsets, size_t count) {
    const int64_t **copy = assembly_reserve(a, BATCH_PART_OFFSETS, count, sizeof *copy);
    if (!copy) return false;
    memcpy(copy, offsets, count * sizeof *copy);
    a->column->offsets = copy;
    a->column->offsets_count = count;
    return true;
}
