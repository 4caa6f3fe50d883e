#include "parse/columns/sequence.h"

#include <string.h>

/* Returns where the rows start, counted in steps. */
static const int64_t *step_offsets(const struct assembly *a) {
    const int64_t *rows = buffer_int64(&a->sink->rows);
    int64_t stride = (int64_t)a->plan->stride;
    if (stride == 1) return rows;
    uint64_t count = a->memory->row_count + 1;
    int64_t *offsets = assembly_reserve(a, BATCH_PART_LEVELS, count, sizeof *offsets);
    for (uint64_t i = 0; offsets && i < count; i++) offsets[i] = rows[i] / stride;
    return offsets;
}

bool assemble_steps(const struct assembly *a) {
    const recmap_feature *feature = &a->plan->feature;
    const int64_t *offsets = step_offsets(a);
    uint64_t value_count = a->sink->value_count;
    return offsets && assembly_set_offsets(a, &offsets, 1) &&
           assembly_set_shape(a, value_count / a->plan->stride, feature->shape,
                              feature->dimension_count) &&
           assembly_set_values(a, a->sink->values.data, value_count);
}

static uint64_t measure(const struct assembly *a, int64_t *lengths) {
    const int64_t *rows = buffer_int64(&a->sink->rows);
    int64_t longest = 0;
    for (uint64_t i = 0; i < a->memory->row_count; i++) {
        lengths[i] = (rows[i + 1] - rows[i]) / (int64_t)a->plan->stride;
        if (lengths[i] > longest) longest = lengths[i];
    }
    return (uint64_t)longest;
}

/* The length to which rows are padded. Without pad_to it is the longest row's. */
static bool padded_length(uint64_t *length, const recmap_feature *feature, uint64_t longest) {
    uint64_t unit = feature->pad_to;
    *length = longest;
    if (!unit) return true;
    uint64_t count = longest ? (longest - 1) / unit + 1 : 1;
    return !__builtin_mul_overflow(count, unit, length);
}

/* Fills `size` bytes by repeating the element: doubles the filled part until it is large enough,
 * and then repeats it. Returns false if the call was interrupted. */
static bool fill(const struct assembly *a, uint8_t *out, size_t size) {
    size_t element_size = recmap_element_size(a->plan->feature.element);
    size_t done = size < element_size ? size : element_size;
    memcpy(out, a->plan->pad, done);
    while (done < size) {
        size_t more = done < INTERRUPT_COPY_SIZE ? done : INTERRUPT_COPY_SIZE;
        if (more > size - done) more = size - done;
        memcpy(out + done, out, more);
        done += more;
        if (!assembly_continues(a, more)) return false;
    }
    return true;
}

/* Copies each row to its place and pads it. Returns false if the call was interrupted. */
static bool pad_rows(const struct assembly *a, uint8_t *row_bytes, size_t row_size) {
    const int64_t *rows = buffer_int64(&a->sink->rows);
    size_t element_size = recmap_element_size(a->plan->feature.element);
    for (uint64_t i = 0; i < a->memory->row_count; i++) {
        const uint8_t *source = a->sink->values.data + (uint64_t)rows[i] * element_size;
        size_t size = (uint64_t)(rows[i + 1] - rows[i]) * element_size;
        if (!interrupt_copy(a->interrupt, row_bytes + i * row_size, source, size) ||
            !fill(a, row_bytes + i * row_size + size, row_size - size))
            return false;
    }
    return true;
}

/* Returns the rows side by side with `row_count` elements each, or NULL if memory runs out or the
 * call is interrupted. */
static const void *make_rows(const struct assembly *a, uint64_t row_count, uint64_t value_count) {
    if (a->sink->value_count == value_count)
        return a->sink->values.data; /* all rows have the padded length */
    size_t element_size = recmap_element_size(a->plan->feature.element);
    uint8_t *row_bytes = assembly_reserve(a, BATCH_PART_VALUES, value_count, element_size);
    return row_bytes && pad_rows(a, row_bytes, row_count * element_size) ? row_bytes : NULL;
}

/* Sets the shape to [rows, length, shape...]. */
static bool set_padded_shape(const struct assembly *a, uint64_t length) {
    const recmap_feature *feature = &a->plan->feature;
    size_t count = feature->dimension_count + 2;
    uint64_t *shape = assembly_reserve(a, BATCH_PART_SHAPE, count, sizeof *shape);
    if (!shape) return false;
    shape[0] = a->memory->row_count;
    shape[1] = length;
    if (count > 2) memcpy(shape + 2, feature->shape, (count - 2) * sizeof *shape);
    a->column->shape = shape;
    a->column->dimension_count = count;
    return true;
}

static bool assemble_padded(const struct assembly *a) {
    uint64_t rows = a->memory->row_count, row_count, value_count;
    int64_t *lengths = assembly_reserve(a, BATCH_PART_LENGTHS, rows, sizeof *lengths);
    if (!lengths) return false;
    uint64_t length;
    if (!padded_length(&length, &a->plan->feature, measure(a, lengths)) ||
        __builtin_mul_overflow(length, a->plan->stride, &row_count) ||
        __builtin_mul_overflow(row_count, rows, &value_count))
        return false;
    const void *values = make_rows(a, row_count, value_count);
    if (!values) return false;
    a->column->lengths = lengths;
    return set_padded_shape(a, length) && assembly_set_values(a, values, value_count);
}

bool assemble_sequence(const struct assembly *a) {
    return a->plan->feature.unpadded ? assemble_steps(a) : assemble_padded(a);
}
