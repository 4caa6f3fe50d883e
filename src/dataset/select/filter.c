#include "dataset/select/filter.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/core/search.h"
#include "dataset/open/dataset.h"
#include "index/tables/lifted.h"

/* Records are matched in chunks of the lifted columns, so that each chunk is opened once. */
enum { CHUNK_RECORDS = COLUMN_CHUNK_RECORDS, SCANNED_VALUES_MAX = 8 };

static size_t tree_depth(const recmap_filter *filter, size_t node) {
    size_t depth = 0;
    for (size_t child = filter->nodes[node].first_child; child != FILTER_NO_NODE;
         child = filter->nodes[child].next_sibling) {
        size_t below = tree_depth(filter, child);
        if (below > depth) depth = below;
    }
    return depth + 1;
}

recmap_status recmap_filter_create(recmap_filter **filter, recmap_dataset *dataset,
                                   const char *expression, size_t size, recmap_error *error) {
    recmap_filter *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->dataset = dataset;
    recmap_status status = filter_parse(fresh, expression, size, error);
    if (status != RECMAP_OK) {
        if (status == RECMAP_INVALID) fail_file(error, dataset_path(dataset));
        recmap_filter_destroy(fresh);
        return status;
    }
    fresh->depth = tree_depth(fresh, fresh->root);
    *filter = fresh;
    return RECMAP_OK;
}

void recmap_filter_destroy(recmap_filter *filter) {
    if (!filter) return;
    for (size_t i = 0; i < filter->column_count; i++) {
        free(filter->columns[i].values);
        free(filter->columns[i].nulls);
    }
    free(filter->columns);
    free(filter->nodes);
    free(filter->values);
    free(filter->texts);
    free(filter->masks);
    free(filter);
}

/* ---- Values of a chunk. */

static size_t value_size(recmap_type type) {
    if (type == RECMAP_TYPE_BYTES) return sizeof(recmap_value);
    return type == RECMAP_TYPE_FLOAT ? sizeof(float) : sizeof(double); /* or an int64 */
}

static recmap_status reserve(recmap_filter *filter, recmap_error *error) {
    if (!filter->masks) filter->masks = malloc(filter->depth * CHUNK_RECORDS);
    if (!filter->masks) return fail_memory(error);
    for (size_t i = 0; i < filter->column_count; i++) {
        struct filter_column *column = &filter->columns[i];
        if (!column->values) column->values = malloc(CHUNK_RECORDS * value_size(column->type));
        if (column->has_nulls && !column->nulls) column->nulls = malloc(CHUNK_RECORDS);
        if (!column->values || (column->has_nulls && !column->nulls)) return fail_memory(error);
    }
    return RECMAP_OK;
}

/* Reads all columns that the expression names, of `count` records from `first` on. */
static recmap_status read_chunk(recmap_filter *filter, uint64_t first, size_t count,
                                recmap_error *error) {
    recmap_dataset *dataset = filter->dataset;
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < filter->column_count; i++) {
        const struct filter_column *column = &filter->columns[i];
        if (column->type == RECMAP_TYPE_BYTES)
            status = recmap_dataset_read_bytes(column->values, dataset, column->index, first, count,
                                               error);
        else if (column->type == RECMAP_TYPE_FLOAT)
            status = recmap_dataset_read_float(column->values, dataset, column->index, first, count,
                                               error);
        else if (column->type == RECMAP_TYPE_FLOAT64)
            status = recmap_dataset_read_float64(column->values, dataset, column->index, first,
                                                 count, error);
        else
            status = recmap_dataset_read_int64(column->values, dataset, column->index, first, count,
                                               error);
        if (status == RECMAP_OK && column->nulls)
            status = recmap_dataset_read_nulls(column->nulls, dataset, column->index, first, count,
                                               error);
    }
    return status;
}

/* ---- Comparisons. Loops without branches, which compilers vectorise. */

#define COMPARE_LOOP(left, right)                                                                  \
    switch (relation) {                                                                            \
    case FILTER_EQUAL:                                                                             \
        for (size_t i = 0; i < count; i++) mask[i] = (left) == (right);                            \
        break;                                                                                     \
    case FILTER_NOT_EQUAL:                                                                         \
        for (size_t i = 0; i < count; i++) mask[i] = (left) != (right);                            \
        break;                                                                                     \
    case FILTER_LESS:                                                                              \
        for (size_t i = 0; i < count; i++) mask[i] = (left) < (right);                             \
        break;                                                                                     \
    case FILTER_LESS_EQUAL:                                                                        \
        for (size_t i = 0; i < count; i++) mask[i] = (left) <= (right);                            \
        break;                                                                                     \
    case FILTER_GREATER:                                                                           \
        for (size_t i = 0; i < count; i++) mask[i] = (left) > (right);                             \
        break;                                                                                     \
    case FILTER_GREATER_EQUAL:                                                                     \
        for (size_t i = 0; i < count; i++) mask[i] = (left) >= (right);                            \
        break;                                                                                     \
    }

static void compare_int64(uint8_t *mask, enum filter_operator relation, const int64_t *values,
                          int64_t value, size_t count) {
    COMPARE_LOOP(values[i], value)
}

static void compare_double(uint8_t *mask, enum filter_operator relation, const int64_t *values,
                           double value, size_t count) {
    COMPARE_LOOP((double)values[i], value)
}

static void compare_float(uint8_t *mask, enum filter_operator relation, const float *values,
                          float value, size_t count) {
    COMPARE_LOOP(values[i], value)
}

static void compare_float64(uint8_t *mask, enum filter_operator relation, const double *values,
                            double value, size_t count) {
    COMPARE_LOOP(values[i], value)
}

static void compare_bytes(uint8_t *mask, enum filter_operator relation, const recmap_value *values,
                          const recmap_value *value, size_t count) {
    COMPARE_LOOP(filter_value_compare(&values[i], value), 0)
}

/* The double to compare int64 values with. */
static double double_of(const struct filter_value *value) {
    if (!value->is_beyond) return value->number;
    return value->number < 0 ? -(double)INFINITY : (double)INFINITY;
}

/* A float column is compared in single precision, so that `score == 0.1` finds what was stored for
 * 0.1. */
static void compare_value(uint8_t *mask, const struct filter_column *column,
                          const struct filter_node *node, size_t count) {
    const struct filter_value *value = &node->value;
    if (column->type == RECMAP_TYPE_BYTES)
        compare_bytes(mask, node->relation, column->values, &value->value, count);
    else if (column->type == RECMAP_TYPE_FLOAT)
        compare_float(mask, node->relation, column->values, (float)value->number, count);
    else if (column->type == RECMAP_TYPE_FLOAT64)
        compare_float64(mask, node->relation, column->values, value->number, count);
    else if (value->is_double)
        compare_double(mask, node->relation, column->values, double_of(value), count);
    else compare_int64(mask, node->relation, column->values, value->value.as.int64, count);
}

/* Copies numbers of a column from `first` on as doubles. */
static void copy_doubles(double *doubles, const struct filter_column *column, size_t first,
                         size_t count) {
    const int64_t *integers = column->values;
    const float *floats = column->values;
    const double *float64s = column->values;
    for (size_t i = 0; i < count; i++)
        doubles[i] = column->type == RECMAP_TYPE_INT64   ? (double)integers[first + i]
                     : column->type == RECMAP_TYPE_FLOAT ? (double)floats[first + i]
                                                         : float64s[first + i];
}

static void compare_doubles(uint8_t *mask, enum filter_operator relation, const double *left,
                            const double *right, size_t count) {
    COMPARE_LOOP(left[i], right[i])
}

/* Compares numbers of two types as doubles. */
static void compare_mixed(uint8_t *mask, const struct filter_column *left,
                          const struct filter_column *right, enum filter_operator relation,
                          size_t count) {
    enum { PIECE = 256 };
    double lefts[PIECE], rights[PIECE];
    for (size_t first = 0; first < count; first += PIECE) {
        size_t here = (size_t)min_u64(count - first, PIECE);
        copy_doubles(lefts, left, first, here);
        copy_doubles(rights, right, first, here);
        compare_doubles(mask + first, relation, lefts, rights, here);
    }
}

static void compare_floats(uint8_t *mask, enum filter_operator relation, const float *left,
                           const float *right, size_t count) {
    COMPARE_LOOP(left[i], right[i])
}

static void compare_int64s(uint8_t *mask, enum filter_operator relation, const int64_t *left,
                           const int64_t *right, size_t count) {
    COMPARE_LOOP(left[i], right[i])
}

static void compare_texts(uint8_t *mask, enum filter_operator relation, const recmap_value *left,
                          const recmap_value *right, size_t count) {
    COMPARE_LOOP(filter_value_compare(&left[i], &right[i]), 0)
}

/* A column of type NONE has only nulls, so that no comparison with it is true. */
static void compare_columns(uint8_t *mask, const struct filter_column *left,
                            const struct filter_column *right, enum filter_operator relation,
                            size_t count) {
    if (left->type == RECMAP_TYPE_NONE || right->type == RECMAP_TYPE_NONE) memset(mask, 0, count);
    else if (left->type == RECMAP_TYPE_BYTES)
        compare_texts(mask, relation, left->values, right->values, count);
    else if (left->type != right->type) compare_mixed(mask, left, right, relation, count);
    else if (left->type == RECMAP_TYPE_FLOAT)
        compare_floats(mask, relation, left->values, right->values, count);
    else if (left->type == RECMAP_TYPE_FLOAT64)
        compare_doubles(mask, relation, left->values, right->values, count);
    else compare_int64s(mask, relation, left->values, right->values, count);
}

/* ---- Lists. */

static recmap_value value_at(const struct filter_column *column, size_t i) {
    if (column->type == RECMAP_TYPE_BYTES) return ((const recmap_value *)column->values)[i];
    recmap_value value = {.type = column->type};
    if (column->type == RECMAP_TYPE_FLOAT) value.as.float32 = ((const float *)column->values)[i];
    else if (column->type == RECMAP_TYPE_FLOAT64)
        value.as.float64 = ((const double *)column->values)[i];
    else value.as.int64 = ((const int64_t *)column->values)[i];
    return value;
}

struct value_search {
    const recmap_value *sorted;
    const recmap_value *value;
};

static bool is_value_below(const void *context, size_t i) {
    const struct value_search *search = context;
    return filter_value_compare(&search->sorted[i], search->value) < 0;
}

/* NaN compares equal to everything in filter_value_compare, but is equal to nothing. */
static bool is_in(const recmap_value *value, const recmap_value *sorted, size_t count) {
    if (value->type == RECMAP_TYPE_FLOAT && value->as.float32 != value->as.float32) return false;
    if (value->type == RECMAP_TYPE_FLOAT64 && value->as.float64 != value->as.float64) return false;
    struct value_search search = {sorted, value};
    size_t i = search_first(is_value_below, &search, count);
    return i < count && !filter_value_compare(&sorted[i], value);
}

static void match_in(uint8_t *mask, const recmap_filter *filter, const struct filter_node *node,
                     size_t count) {
    const struct filter_column *column = &filter->columns[node->column];
    memset(mask, 0, count);
    if (!node->value_count) return; /* filter->values may be NULL */
    const recmap_value *sorted = filter->values + node->first_value;
    if (column->type == RECMAP_TYPE_INT64 && node->value_count <= SCANNED_VALUES_MAX) {
        const int64_t *values = column->values;
        for (size_t k = 0; k < node->value_count; k++)
            for (size_t i = 0; i < count; i++) mask[i] |= values[i] == sorted[k].as.int64;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        recmap_value value = value_at(column, i);
        mask[i] = is_in(&value, sorted, node->value_count);
    }
}

/* ---- Nulls. */

static void match_null(uint8_t *mask, const struct filter_column *column, bool is_negated,
                       size_t count) {
    if (!column->nulls) memset(mask, is_negated, count);
    for (size_t i = 0; column->nulls && i < count; i++) mask[i] = column->nulls[i] ^ is_negated;
}

/* A comparison is false for a null, whatever value is stored in its place. */
static void remove_nulls(uint8_t *mask, const struct filter_column *column, size_t count) {
    for (size_t i = 0; column->nulls && i < count; i++) mask[i] &= column->nulls[i] ^ 1;
}

/* ---- The tree. */

static void match_node(uint8_t *mask, const recmap_filter *filter, size_t index, size_t count);

/* Combines the children into `mask`. The chunk of masks after it is free: each level of the tree
 * has one. */
static void match_children(uint8_t *mask, const recmap_filter *filter,
                           const struct filter_node *node, size_t count) {
    uint8_t *other = mask + CHUNK_RECORDS;
    size_t child = node->first_child;
    assert(child != FILTER_NO_NODE);
    assert(other + CHUNK_RECORDS <= filter->masks + filter->depth * CHUNK_RECORDS);
    match_node(mask, filter, child, count);
    while ((child = filter->nodes[child].next_sibling) != FILTER_NO_NODE) {
        match_node(other, filter, child, count);
        if (node->kind == FILTER_AND)
            for (size_t i = 0; i < count; i++) mask[i] &= other[i];
        else
            for (size_t i = 0; i < count; i++) mask[i] |= other[i];
    }
}

static void match_negated(uint8_t *mask, size_t count) {
    for (size_t i = 0; i < count; i++) mask[i] ^= 1;
}

/* Sets the mask of one node for a chunk of records. Each comparison excludes its own nulls, so that
 * a condition is true or false and never unknown, and `not` is the plain opposite. */
static void match_node(uint8_t *mask, const recmap_filter *filter, size_t index, size_t count) {
    assert(index < filter->node_count && count <= CHUNK_RECORDS);
    const struct filter_node *node = &filter->nodes[index];
    const struct filter_column *columns = filter->columns;
    switch (node->kind) {
    case FILTER_AND:
    case FILTER_OR: match_children(mask, filter, node, count); break;
    case FILTER_NOT:
        match_node(mask, filter, node->first_child, count);
        match_negated(mask, count);
        break;
    case FILTER_COMPARE_VALUE:
        compare_value(mask, &columns[node->column], node, count);
        remove_nulls(mask, &columns[node->column], count);
        break;
    case FILTER_COMPARE_COLUMNS:
        compare_columns(mask, &columns[node->column], &columns[node->other], node->relation, count);
        remove_nulls(mask, &columns[node->column], count);
        remove_nulls(mask, &columns[node->other], count);
        break;
    case FILTER_IN:
    case FILTER_NOT_IN:
        match_in(mask, filter, node, count);
        if (node->kind == FILTER_NOT_IN) match_negated(mask, count);
        remove_nulls(mask, &columns[node->column], count);
        break;
    case FILTER_IS_NULL:
    case FILTER_IS_NOT_NULL:
        match_null(mask, &columns[node->column], node->kind == FILTER_IS_NOT_NULL, count);
        break;
    }
}

recmap_status recmap_filter_match(uint8_t *matches, recmap_filter *filter, uint64_t first,
                                  size_t count, recmap_error *error) {
    uint64_t record_count = recmap_dataset_count(filter->dataset);
    if (!bytes_fit(first, count, record_count))
        return fail(error, RECMAP_INVALID,
                    "%zu record%s from %" PRIu64 " on %s out of range: there are %" PRIu64, count,
                    plural(count), first, count == 1 ? "is" : "are", record_count);
    RETURN_IF_FAILED(reserve(filter, error));
    for (size_t done = 0; done < count;) {
        uint64_t next = first + done;
        uint64_t rest = CHUNK_RECORDS - next % CHUNK_RECORDS;
        size_t chunk = (size_t)min_u64(count - done, rest);
        RETURN_IF_FAILED(read_chunk(filter, next, chunk, error));
        match_node(filter->masks, filter, filter->root, chunk);
        memcpy(matches + done, filter->masks, chunk);
        done += chunk;
    }
    return RECMAP_OK;
}
