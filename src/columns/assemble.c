#include "columns/assemble.h"

#include <string.h>

#include "columns/bulk_copy.h"

void *assembly_reserve(const assembly *a, size_t part, uint64_t count, size_t item_size) {
    buffer *reserved = batch_memory_part(a->memory, a->column_index, part);
    size_t size;
    if (__builtin_mul_overflow(count, item_size, &size)) return NULL;
    return buffer_reserve(reserved, 0, size) ? reserved->data : NULL;
}

bool assembly_set_shape(const assembly *a, uint64_t first, const uint64_t *more,
                        size_t more_count) {
    uint64_t *shape = assembly_reserve(a, BATCH_PART_SHAPE, more_count + 1, sizeof *shape);
    if (!shape) return false;
    shape[0] = first;
    for (size_t i = 0; i < more_count; i++) shape[i + 1] = more ? more[i] : 0;
    a->column->shape = shape;
    a->column->dimension_count = more_count + 1;
    return true;
}

/* Into one buffer: their sizes were summed before, so that it grows once. */
static bool copy_bytes(const assembly *a, const recmap_bytes *views, uint64_t count) {
    int64_t *offsets = assembly_reserve(a, BATCH_PART_BYTES_OFFSETS, count + 1, sizeof *offsets);
    uint64_t total = 0;
    if (!offsets) return false;
    for (uint64_t i = 0; i < count; i++) {
        offsets[i] = (int64_t)total;
        total += views[i].size;
        if (total > INT64_MAX) return false;
    }
    offsets[count] = (int64_t)total;
    buffer *bytes = batch_memory_part(a->memory, a->column_index, BATCH_PART_BYTES);
    if (!buffer_reserve(bytes, 0, total)) return false;
    bool is_bulk = total >= BULK_COPY_LEAST && total / count >= BULK_COPY_VALUE;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *to = bytes->data + offsets[i];
        if (is_bulk) bulk_copy(to, views[i].data, views[i].size);
        else memcpy(to, views[i].data, views[i].size);
    }
    if (is_bulk) bulk_copy_end();
    a->column->values = bytes->data;
    a->column->bytes_offsets = offsets;
    return true;
}

bool assembly_set_values(const assembly *a, const void *elements, uint64_t value_count) {
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

bool assembly_set_offsets(const assembly *a, const int64_t *const *offsets, size_t count) {
    const int64_t **kept = assembly_reserve(a, BATCH_PART_OFFSETS, count, sizeof *kept);
    if (!kept) return false;
    memcpy(kept, offsets, count * sizeof *kept);
    a->column->offsets = kept;
    a->column->offsets_count = count;
    return true;
}

static bool assemble_fixed(const assembly *a) {
    const recmap_feature *feature = &a->plan->feature;
    uint64_t rows = a->memory->row_count;
    return assembly_set_shape(a, rows, feature->shape, feature->dimension_count) &&
           assembly_set_values(a, a->sink->values.data, rows * a->plan->stride);
}

static bool assemble_var_len(const assembly *a) {
    const int64_t *offsets[] = {buffer_int64(&a->sink->rows), buffer_int64(&a->sink->steps)};
    return assembly_set_shape(a, a->sink->value_count, NULL, 0) &&
           assembly_set_offsets(a, offsets, a->plan->is_list ? 2 : 1) &&
           assembly_set_values(a, a->sink->values.data, a->sink->value_count);
}

static bool assemble_column(batch_memory *memory, size_t column_index) {
    const column_plan *plan = &memory->parser->columns[column_index];
    const sink *sink = batch_memory_sink(memory, plan->is_list, plan->values_slot);
    recmap_column *column = &memory->columns[column_index];
    *column = (recmap_column){.name = plan->feature.name,
                              .kind = plan->feature.kind,
                              .element = plan->feature.element,
                              .row_count = memory->row_count,
                              .validity = sink->null_count ? sink->validity.data : NULL,
                              .null_count = sink->null_count};
    const assembly a = {memory, column_index, plan, sink, column};
    switch (plan->feature.kind) {
    case RECMAP_FEATURE_FIXED_LEN: return assemble_fixed(&a);
    case RECMAP_FEATURE_VAR_LEN: return assemble_var_len(&a);
    case RECMAP_FEATURE_FIXED_LEN_SEQUENCE: return assemble_sequence(&a);
    case RECMAP_FEATURE_RAGGED: return assemble_ragged(&a);
    case RECMAP_FEATURE_SPARSE: return assemble_sparse(&a);
    }
    return false;
}

bool assemble_columns(batch_memory *memory) {
    for (size_t i = 0; i < memory->parser->column_count; i++)
        if (!assemble_column(memory, i)) return false;
    memory->column_count = memory->parser->column_count;
    return true;
}
