#include "parse/columns/sparse.h"

#include "base/core/plural.h"

#include <inttypes.h>
#include <string.h>

static const int64_t *key_values(const struct batch_memory *memory,
                                 const struct column_plan *column, size_t key) {
    return buffer_int64(&memory->sinks[column->other_slots[key]].values);
}

static const int64_t *key_rows(const struct batch_memory *memory, const struct column_plan *column,
                               size_t key) {
    return buffer_int64(&memory->sinks[column->other_slots[key]].rows);
}

/* Checks one dimension of a row. Comparing as unsigned also rejects negative indices. */
static bool check_key(const struct batch_memory *memory, const struct column_plan *column,
                      size_t row, size_t key, int64_t value_count, struct read_fault *fault) {
    const recmap_feature *feature = &column->feature;
    int64_t begin = key_rows(memory, column, key)[row];
    int64_t count = key_rows(memory, column, key)[row + 1] - begin;
    const int64_t *index = key_values(memory, column, key) + begin;
    if (count != value_count) {
        fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                  "feature '%s': %" PRId64 " value%s, and %" PRId64 " ind%s in '%s'", feature->name,
                  value_count, plural((uint64_t)value_count), count, count == 1 ? "ex" : "ices",
                  feature->index_keys[key]);
        return fault_blame(fault, column->other_slots[key]);
    }
    for (int64_t i = 0; i < count; i++) {
        if ((uint64_t)index[i] < feature->sizes[key]) continue;
        fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                  "feature '%s': index %" PRId64 " in '%s' is not in [0, %" PRIu64 ")",
                  feature->name, index[i], feature->index_keys[key], feature->sizes[key]);
        return fault_blame(fault, column->other_slots[key]);
    }
    return true;
}

bool sparse_check_row(struct batch_memory *memory, size_t column_index, size_t row,
                      struct read_fault *fault) {
    const struct column_plan *plan = &memory->parser->columns[column_index];
    const int64_t *rows = buffer_int64(&memory->sinks[plan->values_slot].rows);
    for (size_t key = 0; key < plan->feature.index_count; key++)
        if (!check_key(memory, plan, row, key, rows[row + 1] - rows[row], fault)) return false;
    return true;
}

/* The key for sorting values: `width` coordinates per value, the first of which is the row. */
struct sorting {
    const int64_t *indices;
    size_t width;
};

static bool is_before(const struct sorting *sorting, int64_t a, int64_t b) {
    const int64_t *left = sorting->indices + (size_t)a * sorting->width;
    const int64_t *right = sorting->indices + (size_t)b * sorting->width;
    for (size_t i = 1; i < sorting->width; i++)
        if (left[i] != right[i]) return left[i] < right[i];
    return false;
}

static bool is_sorted(const struct sorting *sorting, int64_t begin, int64_t end) {
    for (int64_t i = begin + 1; i < end; i++)
        if (is_before(sorting, i, i - 1)) return false;
    return true;
}

static void merge(const struct sorting *sorting, int64_t *out, const int64_t *source, size_t middle,
                  size_t end) {
    size_t left = 0, right = middle;
    for (size_t i = 0; i < end; i++) {
        bool takes_right = left == middle ||
                           (right < end && is_before(sorting, source[right], source[left]));
        out[i] = source[takes_right ? right++ : left++];
    }
}

/* A stable merge sort from the bottom up: runs of 1, 2, 4 and so on. It needs no recursion and no
 * memory besides `other`. Returns false if the call was interrupted. */
static bool sort(const struct assembly *a, const struct sorting *sorting, int64_t *order,
                 int64_t *other, size_t count) {
    int64_t *source = order, *target = other;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * run) {
            size_t end = begin + 2 * run < count ? 2 * run : count - begin;
            merge(sorting, target + begin, source + begin, run < end ? run : end, end);
            if (!assembly_continues(a, end * sizeof *order)) return false;
        }
        int64_t *done = target;
        target = source;
        source = done;
    }
    if (source != order) memcpy(order, source, count * sizeof *order);
    return true;
}

/* Collects the coordinates of all values in the order of the records. */
static int64_t *make_indices(const struct assembly *a, size_t part) {
    const int64_t *rows = buffer_int64(&a->sink->rows);
    size_t width = 1 + a->plan->feature.index_count;
    int64_t *indices = assembly_reserve(a, part, a->sink->value_count * width, sizeof *indices);
    if (!indices) return NULL;
    for (uint64_t row = 0; row < a->memory->row_count; row++) {
        for (int64_t i = rows[row]; i < rows[row + 1]; i++)
            indices[(size_t)i * width] = (int64_t)row;
        if (!assembly_continues(a, (uint64_t)(rows[row + 1] - rows[row]) * sizeof *indices))
            return NULL;
    }
    for (size_t key = 0; key + 1 < width; key++) {
        const int64_t *values = key_values(a->memory, a->plan, key);
        for (uint64_t i = 0; i < a->sink->value_count; i++)
            indices[i * width + key + 1] = values[i];
    }
    return indices;
}

static bool is_all_sorted(const struct assembly *a, const struct sorting *sorting) {
    const int64_t *rows = buffer_int64(&a->sink->rows);
    for (uint64_t row = 0; row < a->memory->row_count; row++)
        if (!is_sorted(sorting, rows[row], rows[row + 1])) return false;
    return true;
}

/* Returns the order of the values, sorted within each row, or NULL if memory runs out or the call
 * is interrupted. */
static const int64_t *make_order(const struct assembly *a, const struct sorting *sorting) {
    const int64_t *rows = buffer_int64(&a->sink->rows);
    uint64_t count = a->sink->value_count;
    int64_t *order = assembly_reserve(a, BATCH_PART_ORDER, count * 2, sizeof *order);
    if (!order) return NULL;
    for (uint64_t i = 0; i < count; i++) order[i] = (int64_t)i;
    for (uint64_t row = 0; row < a->memory->row_count; row++)
        if (!is_sorted(sorting, rows[row], rows[row + 1]) &&
            !sort(a, sorting, order + rows[row], order + count,
                  (size_t)(rows[row + 1] - rows[row])))
            return NULL;
    return order;
}

/* Copies values and coordinates in sorted order. Returns the values, or NULL if memory runs out or
 * the call is interrupted. */
static const void *sort_all(const struct assembly *a, const struct sorting *sorting) {
    uint64_t count = a->sink->value_count;
    size_t size = recmap_element_size(a->plan->feature.element), width = sorting->width;
    const int64_t *order = make_order(a, sorting);
    int64_t *indices = assembly_reserve(a, BATCH_PART_INDICES, count * width, sizeof *indices);
    uint8_t *values = assembly_reserve(a, BATCH_PART_VALUES, count, size);
    if (!order || !indices || !values) return NULL;
    for (uint64_t i = 0; i < count; i++) {
        size_t from = (size_t)order[i];
        memcpy(values + i * size, a->sink->values.data + from * size, size);
        memcpy(indices + i * width, sorting->indices + from * width, width * sizeof *indices);
        if (!assembly_continues(a, size + width * sizeof *indices)) return NULL;
    }
    a->column->indices = indices;
    return values;
}

bool assemble_sparse(const struct assembly *a) {
    const recmap_feature *feature = &a->plan->feature;
    const int64_t *offsets = buffer_int64(&a->sink->rows);
    const void *values = a->sink->values.data;
    struct sorting s = {make_indices(a, BATCH_PART_UNSORTED), 1 + feature->index_count};
    uint64_t *dense = assembly_reserve(a, BATCH_PART_DENSE_SHAPE, s.width, sizeof *dense);
    if (!s.indices || !dense) return false;
    dense[0] = a->memory->row_count;
    memcpy(dense + 1, feature->sizes, feature->index_count * sizeof *dense);
    a->column->dense_shape = dense;
    a->column->dense_dimension_count = s.width;
    a->column->indices = s.indices;
    if (!feature->already_sorted && !is_all_sorted(a, &s)) values = sort_all(a, &s);
    return values && assembly_set_shape(a, a->sink->value_count, NULL, 0) &&
           assembly_set_offsets(a, &offsets, 1) &&
           assembly_set_values(a, values, a->sink->value_count);
}
