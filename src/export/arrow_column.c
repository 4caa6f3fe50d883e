#include "export/arrow_column.h"

#include <stdio.h>
#include <string.h>

#include "columns/ragged.h"
#include "export/arrow_views.h"

/* What is made, and what it is made of. Without a column there is no data. */
struct maker {
    struct arrow_box *box;
    const struct column_plan *plan;
    const recmap_column *column; /* or NULL */
    bool is_own;                 /* a function of the user's set the values */
    const struct slot *slot;     /* of the values, with their sink */
    const struct sink *sink;
    const void *elements; /* values or views, in the order of the column; no pads */
    uint64_t element_count;
    const uint64_t *dimensions; /* of an item */
    size_t dimension_count;
    const int64_t *const *offsets;
    size_t level_count;
};

static const char *const formats[] = {
    [RECMAP_ELEMENT_INT64] = "l",    [RECMAP_ELEMENT_FLOAT32] = "f", [RECMAP_ELEMENT_BYTES] = "vz",
    [RECMAP_ELEMENT_INT32] = "i",    [RECMAP_ELEMENT_INT16] = "s",   [RECMAP_ELEMENT_INT8] = "c",
    [RECMAP_ELEMENT_UINT64] = "L",   [RECMAP_ELEMENT_UINT32] = "I",  [RECMAP_ELEMENT_UINT16] = "S",
    [RECMAP_ELEMENT_UINT8] = "C",    [RECMAP_ELEMENT_BOOL] = "b",    [RECMAP_ELEMENT_FLOAT16] = "e",
    [RECMAP_ELEMENT_BFLOAT16] = "S", [RECMAP_ELEMENT_FLOAT64] = "g",
};

static bool is_copied(const struct maker *maker) {
    return maker->plan->feature.bytes_mode == RECMAP_BYTES_COPY;
}

/* Where the elements of a row end, for views: in the sink, whose order of rows is the column's. */
static uint64_t row_end(const void *context, uint64_t row) {
    const struct maker *m = context;
    if (m->slot->count && !m->slot->is_list) return (row + 1) * m->slot->count;
    int64_t end = buffer_int64(&m->sink->rows)[row + 1];
    return (uint64_t)(m->slot->steps ? buffer_int64(&m->sink->steps)[end] : end);
}

static bool make_bits(const struct maker *maker, struct arrow_node *node) {
    const uint8_t *values = maker->elements;
    uint8_t *bits = arena_allocate_zeros(&maker->box->memory, maker->element_count / 8 + 1, 1);
    if (!bits) return false;
    for (uint64_t i = 0; i < maker->element_count; i++)
        bits[i / 8] |= (uint8_t)((unsigned)values[i] << i % 8);
    node->buffers[1] = bits;
    return true;
}

/* A padded column's copied bytes have pads among them: the others are copied once more. */
static bool copy_views(const struct maker *maker, struct arrow_node *node) {
    const recmap_bytes *views = maker->elements;
    uint64_t total = 0;
    int64_t *offsets =
        arena_allocate_zeros(&maker->box->memory, maker->element_count + 1, sizeof *offsets);
    for (uint64_t i = 0; i < maker->element_count; i++) total += views[i].size;
    uint8_t *bytes = arena_allocate(&maker->box->memory, total);
    if (!offsets || !bytes) return false;
    for (uint64_t i = 0; i < maker->element_count; i++) {
        if (views[i].size) memcpy(bytes + offsets[i], views[i].data, views[i].size);
        offsets[i + 1] = offsets[i] + (int64_t)views[i].size;
    }
    node->buffers[1] = offsets;
    node->buffers[2] = bytes;
    return true;
}

static bool add_bytes(const struct maker *maker, struct arrow_node *node) {
    /* A function of the user's may have taken the bytes of a row from anywhere. */
    if (!is_copied(maker) && maker->is_own)
        return arrow_views_make(node, maker->box, maker->elements, maker->element_count,
                                maker->element_count, arrow_view_alone, NULL);
    if (!is_copied(maker))
        return arrow_views_make(node, maker->box, maker->elements, maker->element_count,
                                maker->column->row_count, row_end, maker);
    if (!arrow_node_add_buffers(node, maker->box, 3)) return false;
    if (maker->column->lengths) return copy_views(maker, node);
    node->buffers[1] = maker->column->bytes_offsets;
    node->buffers[2] = maker->column->values;
    return true;
}

static bool make_elements(const struct maker *maker, struct arrow_node *node) {
    recmap_element element = maker->plan->feature.element;
    bool is_bytes = element == RECMAP_ELEMENT_BYTES;
    node->format = is_bytes && is_copied(maker) ? "Z" : formats[element];
    if (element == RECMAP_ELEMENT_BFLOAT16 &&
        !arrow_node_add_metadata(node, maker->box, "recmap:element", "bfloat16"))
        return false;
    if (!maker->column) return true;
    if (is_bytes) return add_bytes(maker, node);
    if (!arrow_node_add_buffers(node, maker->box, 2)) return false;
    if (element == RECMAP_ELEMENT_BOOL) return make_bits(maker, node);
    node->buffers[1] = maker->elements;
    return true;
}

static const char *fixed_size_format(const struct maker *maker, uint64_t size) {
    char text[32];
    snprintf(text, sizeof text, "+w:%llu", (unsigned long long)size);
    return arena_copy_text(&maker->box->memory, text);
}

/* A fixed_size_list of so many items, whose only child is still to be made. */
static bool begin_fixed_size(const struct maker *maker, struct arrow_node *node, uint64_t size) {
    node->format = fixed_size_format(maker, size);
    if (!node->format || !arrow_node_add_children(node, maker->box, 1)) return false;
    node->children[0].name = "item";
    node->children[0].length = node->length * (int64_t)size;
    return !maker->column || arrow_node_add_buffers(node, maker->box, 1);
}

/* Items of the dimensions from `dimension` on. */
static bool make_dense(const struct maker *maker, struct arrow_node *node, size_t dimension) {
    if (dimension == maker->dimension_count) return make_elements(maker, node);
    return begin_fixed_size(maker, node, maker->dimensions[dimension]) &&
           make_dense(maker, node->children, dimension + 1);
}

static bool make_tensors(const struct maker *maker, struct arrow_node *node) {
    char metadata[1024];
    size_t size = (size_t)snprintf(metadata, sizeof metadata, "{\"shape\":[");
    for (size_t i = 0; i < maker->dimension_count; i++)
        size += (size_t)snprintf(metadata + size, sizeof metadata - size, "%s%llu", i ? "," : "",
                                 (unsigned long long)maker->dimensions[i]);
    snprintf(metadata + size, sizeof metadata - size, "]}");
    return arrow_node_add_metadata(node, maker->box, "ARROW:extension:name",
                                   "arrow.fixed_shape_tensor") &&
           arrow_node_add_metadata(node, maker->box, "ARROW:extension:metadata", metadata) &&
           begin_fixed_size(maker, node, maker->plan->stride) &&
           make_elements(maker, node->children);
}

static bool make_fixed(const struct maker *maker, struct arrow_node *node) {
    recmap_element element = maker->plan->feature.element;
    bool has_tensors = element != RECMAP_ELEMENT_BYTES && element != RECMAP_ELEMENT_BOOL;
    /* 2^31 elements have at most 31 dimensions above 1; the text of more is long. */
    if (has_tensors && maker->dimension_count > 1 && maker->dimension_count <= 32)
        return make_tensors(maker, node);
    return make_dense(maker, node, 0);
}

/* The coordinates without the row, which a list tells by itself. */
static bool make_indices(const struct maker *maker, struct arrow_node *node) {
    size_t width = maker->plan->feature.index_count;
    if (!begin_fixed_size(maker, node, width)) return false;
    node->children[0].format = "l";
    if (!maker->column) return true;
    uint64_t count = maker->element_count;
    int64_t *indices = arena_allocate_zeros(&maker->box->memory, count, width * sizeof *indices);
    if (!indices || !arrow_node_add_buffers(node->children, maker->box, 2)) return false;
    for (uint64_t i = 0; i < count; i++)
        memcpy(indices + i * width, maker->column->indices + i * (width + 1) + 1,
               width * sizeof *indices);
    node->children[0].buffers[1] = indices;
    return true;
}

static bool make_points(const struct maker *maker, struct arrow_node *node) {
    node->format = "+s";
    if (!arrow_node_add_children(node, maker->box, 2)) return false;
    if (maker->column && !arrow_node_add_buffers(node, maker->box, 1)) return false;
    struct arrow_node *indices = &node->children[0], *value = &node->children[1];
    indices->name = "indices";
    value->name = "value";
    indices->length = value->length = node->length;
    return make_indices(maker, indices) && make_elements(maker, value);
}

/* Lists of lists of items, from level `level` on. */
static bool make_lists(const struct maker *maker, struct arrow_node *node, size_t level) {
    if (level == maker->level_count)
        return maker->plan->feature.kind == RECMAP_FEATURE_SPARSE ? make_points(maker, node)
                                                                  : make_dense(maker, node, 0);
    node->format = "+L";
    if (!arrow_node_add_children(node, maker->box, 1)) return false;
    node->children[0].name = "item";
    if (maker->column) {
        if (!arrow_node_add_buffers(node, maker->box, 2)) return false;
        node->buffers[1] = maker->offsets[level];
        node->children[0].length = maker->offsets[level][node->length];
    }
    return make_lists(maker, node->children, level + 1);
}

/* Uniform partitions at the inner end are dimensions. */
static bool find_tail(struct maker *maker) {
    const recmap_feature *feature = &maker->plan->feature;
    size_t count = ragged_tail_count(feature);
    uint64_t *lengths = arena_allocate_zeros(&maker->box->memory, count, sizeof *lengths);
    if (!lengths) return false;
    for (size_t i = 0; i < count; i++)
        lengths[i] = feature->partitions[feature->partition_count - count + i].length;
    maker->dimensions = lengths;
    maker->dimension_count = count;
    maker->level_count = 1 + feature->partition_count - count;
    return true;
}

/* Sequences come from their sink, which has no pads. */
static bool find_steps(struct maker *maker) {
    if (!maker->column) return true;
    maker->elements = maker->sink->values.data;
    maker->element_count = maker->sink->value_count;
    const int64_t *rows = buffer_int64(&maker->sink->rows);
    uint64_t count = maker->column->row_count + 1;
    int64_t *steps = arena_allocate(&maker->box->memory, count * sizeof *steps);
    const int64_t **offsets = arena_allocate(&maker->box->memory, sizeof *offsets);
    if (!steps || !offsets) return false;
    for (uint64_t i = 0; i < count; i++) steps[i] = rows[i] / (int64_t)maker->plan->stride;
    offsets[0] = steps;
    maker->offsets = offsets;
    return true;
}

static bool add_sizes(const struct maker *maker, struct arrow_node *node) {
    const recmap_feature *feature = &maker->plan->feature;
    size_t capacity = feature->index_count * 22 + 3, size = 1;
    char *text = arena_allocate_zeros(&maker->box->memory, capacity, 1);
    if (!text) return false;
    text[0] = '[';
    for (size_t i = 0; i < feature->index_count; i++)
        size += (size_t)snprintf(text + size, capacity - size, "%s%llu", i ? ", " : "",
                                 (unsigned long long)feature->sizes[i]);
    snprintf(text + size, capacity - size, "]");
    return arrow_node_add_metadata(node, maker->box, "recmap:sizes", text);
}

static bool make_column(struct maker *maker, struct arrow_node *node) {
    switch (maker->plan->feature.kind) {
    case RECMAP_FEATURE_FIXED_LEN: return make_fixed(maker, node);
    case RECMAP_FEATURE_VAR_LEN:
        maker->dimension_count = 0;
        maker->level_count = maker->plan->is_list ? 2 : 1;
        break;
    case RECMAP_FEATURE_FIXED_LEN_SEQUENCE:
        maker->level_count = 1;
        if (!find_steps(maker)) return false;
        break;
    case RECMAP_FEATURE_RAGGED:
        if (!find_tail(maker)) return false;
        break;
    case RECMAP_FEATURE_SPARSE:
        maker->level_count = 1;
        if (!add_sizes(maker, node)) return false;
        break;
    }
    return make_lists(maker, node, 0);
}

bool arrow_column_make(struct arrow_node *node, struct arrow_box *box, const recmap_parser *plan,
                       const struct batch_memory *memory, size_t column_index) {
    const struct column_plan *column = &plan->columns[column_index];
    struct maker m = {.box = box,
                      .plan = column,
                      .dimensions = column->feature.shape,
                      .dimension_count = column->feature.dimension_count};
    node->name = column->feature.name;
    if (memory) {
        m.column = &memory->columns[column_index];
        m.is_own = plan->custom_parse;
        m.slot = &(column->is_list ? &plan->lists : &plan->features)->slots[column->values_slot];
        m.sink =
            batch_memory_sink((struct batch_memory *)memory, column->is_list, column->values_slot);
        m.elements = m.column->views ? (const void *)m.column->views : m.column->values;
        m.element_count = m.column->value_count;
        m.offsets = m.column->offsets;
        node->length = (int64_t)m.column->row_count;
    }
    if (!make_column(&m, node)) return false;
    if (!memory) return true;
    node->buffers[0] = m.column->validity;
    node->null_count = (int64_t)m.column->null_count;
    return true;
}
