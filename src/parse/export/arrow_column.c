#include "parse/export/arrow_column.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "parse/columns/ragged.h"
#include "parse/export/arrow_channels.h"
#include "parse/export/arrow_views.h"

/* What one column is built from. Without a column there is no data, only a field. */
struct column_source {
    struct arrow_box *box;
    const struct column_plan *plan;
    const recmap_column *column; /* or NULL */
    bool is_scattered;           /* the bytes of a row can be anywhere */
    const struct slot *slot;     /* of the values */
    const struct sink *sink;
    const void *elements; /* values or views in the order of the column, without padding */
    uint64_t element_count;
    const uint64_t *dimensions; /* of one item */
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

static bool is_copied(const struct column_source *source) {
    return source->plan->feature.bytes_mode == RECMAP_BYTES_COPY;
}

/* Returns the index after a row's last element, for views. It is taken from the sink, whose rows
 * are in the same order as the column's. */
static uint64_t row_end(const void *context, uint64_t row) {
    const struct column_source *m = context;
    if (m->slot->count && !m->slot->is_list) return (row + 1) * m->slot->count;
    int64_t end = buffer_int64(&m->sink->rows)[row + 1];
    return (uint64_t)(m->slot->steps ? buffer_int64(&m->sink->steps)[end] : end);
}

static bool make_bits(const struct column_source *source, struct arrow_node *node) {
    const uint8_t *values = source->elements;
    uint8_t *bits = arena_allocate_zeros(&source->box->memory, source->element_count / 8 + 1, 1);
    if (!bits) return false;
    for (uint64_t i = 0; i < source->element_count; i++)
        bits[i / 8] |= (uint8_t)((unsigned)values[i] << i % 8);
    node->buffers[1] = bits;
    return true;
}

/* The copied bytes of a padded column include its padding, so the real values are copied once more.
 */
static bool copy_views(const struct column_source *source, struct arrow_node *node) {
    const recmap_bytes *views = source->elements;
    uint64_t total = 0;
    int64_t *offsets =
        arena_allocate_zeros(&source->box->memory, source->element_count + 1, sizeof *offsets);
    for (uint64_t i = 0; i < source->element_count; i++) total += views[i].size;
    uint8_t *bytes = arena_allocate(&source->box->memory, total);
    if (!offsets || !bytes) return false;
    for (uint64_t i = 0; i < source->element_count; i++) {
        if (views[i].size) memcpy(bytes + offsets[i], views[i].data, views[i].size);
        offsets[i + 1] = offsets[i] + (int64_t)views[i].size;
    }
    node->buffers[1] = offsets;
    node->buffers[2] = bytes;
    return true;
}

static bool add_bytes(const struct column_source *source, struct arrow_node *node) {
    /* A user's function may have taken the bytes of one row from anywhere, and the bytes of a row
     * that was cut from records are in several. */
    if (!is_copied(source) && source->is_scattered)
        return arrow_views_init(node, source->box, source->elements, source->element_count,
                                source->element_count, arrow_view_alone, NULL);
    if (!is_copied(source))
        return arrow_views_init(node, source->box, source->elements, source->element_count,
                                source->column->row_count, row_end, source);
    if (!arrow_node_add_buffers(node, source->box, 3)) return false;
    if (source->column->lengths) return copy_views(source, node);
    node->buffers[1] = source->column->bytes_offsets;
    node->buffers[2] = source->column->values;
    return true;
}

static bool make_elements(const struct column_source *source, struct arrow_node *node) {
    recmap_element element = source->plan->feature.element;
    bool is_bytes = element == RECMAP_ELEMENT_BYTES;
    node->format = is_bytes && is_copied(source) ? "Z" : formats[element];
    if (element == RECMAP_ELEMENT_BFLOAT16 &&
        !arrow_node_add_metadata(node, source->box, "recmap:element", "bfloat16"))
        return false;
    if (!source->column) return true;
    if (is_bytes) return add_bytes(source, node);
    if (!arrow_node_add_buffers(node, source->box, 2)) return false;
    if (element == RECMAP_ELEMENT_BOOL) return make_bits(source, node);
    node->buffers[1] = source->elements;
    return true;
}

static const char *fixed_size_format(const struct column_source *source, uint64_t size) {
    char text[32];
    snprintf(text, sizeof text, "+w:%" PRIu64, size);
    return arena_copy_text(&source->box->memory, text);
}

/* Starts a fixed_size_list of `size` items. The caller builds its only child. */
static bool begin_fixed_size(const struct column_source *source, struct arrow_node *node,
                             uint64_t size) {
    node->format = fixed_size_format(source, size);
    if (!node->format || !arrow_node_add_children(node, source->box, 1)) return false;
    node->children[0].name = "item";
    node->children[0].length = node->length * (int64_t)size;
    return !source->column || arrow_node_add_buffers(node, source->box, 1);
}

/* Describes items with the dimensions from `dimension` on. */
static bool make_dense(const struct column_source *source, struct arrow_node *node,
                       size_t dimension) {
    if (dimension == source->dimension_count) return make_elements(source, node);
    return begin_fixed_size(source, node, source->dimensions[dimension]) &&
           make_dense(source, node->children, dimension + 1);
}

static uint64_t element_count(const struct column_source *source) {
    uint64_t count = 1;
    for (size_t i = 0; i < source->dimension_count; i++) count *= source->dimensions[i];
    return count;
}

static bool make_tensors(const struct column_source *source, struct arrow_node *node) {
    char metadata[1024];
    size_t size = (size_t)snprintf(metadata, sizeof metadata, "{\"shape\":[");
    for (size_t i = 0; i < source->dimension_count; i++)
        size += (size_t)snprintf(metadata + size, sizeof metadata - size, "%s%" PRIu64,
                                 i ? "," : "", source->dimensions[i]);
    snprintf(metadata + size, sizeof metadata - size, "]}");
    return arrow_node_add_metadata(node, source->box, "ARROW:extension:name",
                                   "arrow.fixed_shape_tensor") &&
           arrow_node_add_metadata(node, source->box, "ARROW:extension:metadata", metadata) &&
           begin_fixed_size(source, node, element_count(source)) &&
           make_elements(source, node->children);
}

static bool make_fixed(const struct column_source *source, struct arrow_node *node) {
    recmap_element element = source->plan->feature.element;
    bool has_tensors = element != RECMAP_ELEMENT_BYTES && element != RECMAP_ELEMENT_BOOL;
    /* With 2^31 elements at most 31 dimensions exceed 1. Shapes with more dimensions could overflow
     * the text. */
    if (has_tensors && source->dimension_count > 1 && source->dimension_count <= 32)
        return make_tensors(source, node);
    return make_dense(source, node, 0);
}

/* Describes the coordinates without the row number, which follows from the list. */
static bool make_indices(const struct column_source *source, struct arrow_node *node) {
    size_t width = source->plan->feature.index_count;
    if (!begin_fixed_size(source, node, width)) return false;
    node->children[0].format = "l";
    if (!source->column) return true;
    uint64_t count = source->element_count;
    int64_t *indices = arena_allocate_zeros(&source->box->memory, count, width * sizeof *indices);
    if (!indices || !arrow_node_add_buffers(node->children, source->box, 2)) return false;
    for (uint64_t i = 0; i < count; i++)
        memcpy(indices + i * width, source->column->indices + i * (width + 1) + 1,
               width * sizeof *indices);
    node->children[0].buffers[1] = indices;
    return true;
}

static bool make_points(const struct column_source *source, struct arrow_node *node) {
    node->format = "+s";
    if (!arrow_node_add_children(node, source->box, 2)) return false;
    if (source->column && !arrow_node_add_buffers(node, source->box, 1)) return false;
    struct arrow_node *indices = &node->children[0], *value = &node->children[1];
    indices->name = "indices";
    value->name = "value";
    indices->length = value->length = node->length;
    return make_indices(source, indices) && make_elements(source, value);
}

/* Describes nested lists of items, from level `level` on. */
static bool make_lists(const struct column_source *source, struct arrow_node *node, size_t level) {
    if (level == source->level_count)
        return source->plan->feature.kind == RECMAP_FEATURE_SPARSE ? make_points(source, node)
                                                                   : make_dense(source, node, 0);
    node->format = "+L";
    if (!arrow_node_add_children(node, source->box, 1)) return false;
    node->children[0].name = "item";
    if (source->column) {
        if (!arrow_node_add_buffers(node, source->box, 2)) return false;
        node->buffers[1] = source->offsets[level];
        node->children[0].length = source->offsets[level][node->length];
    }
    return make_lists(source, node->children, level + 1);
}

/* Uniform partitions at the inner end become dimensions. */
static bool find_tail(struct column_source *source) {
    const recmap_feature *feature = &source->plan->feature;
    size_t count = ragged_tail_count(feature);
    uint64_t *lengths = arena_allocate_zeros(&source->box->memory, count, sizeof *lengths);
    if (!lengths) return false;
    for (size_t i = 0; i < count; i++)
        lengths[i] = feature->partitions[feature->partition_count - count + i].length;
    source->dimensions = lengths;
    source->dimension_count = count;
    source->level_count = 1 + feature->partition_count - count;
    return true;
}

/* Takes sequences from their sink, which has no padding. */
static bool find_steps(struct column_source *source) {
    if (!source->column) return true;
    source->elements = source->sink->values.data;
    source->element_count = source->sink->value_count;
    const int64_t *rows = buffer_int64(&source->sink->rows);
    uint64_t count = source->column->row_count + 1;
    int64_t *steps = arena_allocate(&source->box->memory, count * sizeof *steps);
    const int64_t **offsets = arena_allocate(&source->box->memory, sizeof *offsets);
    if (!steps || !offsets) return false;
    for (uint64_t i = 0; i < count; i++) steps[i] = rows[i] / (int64_t)source->plan->stride;
    offsets[0] = steps;
    source->offsets = offsets;
    return true;
}

static bool add_sizes(const struct column_source *source, struct arrow_node *node) {
    const recmap_feature *feature = &source->plan->feature;
    size_t capacity = feature->index_count * 22 + 3, size = 1;
    char *text = arena_allocate_zeros(&source->box->memory, capacity, 1);
    if (!text) return false;
    text[0] = '[';
    for (size_t i = 0; i < feature->index_count; i++)
        size += (size_t)snprintf(text + size, capacity - size, "%s%" PRIu64, i ? ", " : "",
                                 feature->sizes[i]);
    snprintf(text + size, capacity - size, "]");
    return arrow_node_add_metadata(node, source->box, "recmap:sizes", text);
}

/* Every kind of column is a fixed-size list or nested lists. The kind decides how many levels there
 * are and where their offsets come from. */
static bool make_column(struct column_source *source, struct arrow_node *node) {
    switch (source->plan->feature.kind) {
    case RECMAP_FEATURE_IMAGE:
        if (source->dimension_count) return make_fixed(source, node);
        source->level_count = 1;
        break;
    case RECMAP_FEATURE_FIXED_LEN: return make_fixed(source, node);
    case RECMAP_FEATURE_SLICED:
        source->dimensions = source->column->shape + 1;
        source->dimension_count = source->column->dimension_count - 1;
        return make_fixed(source, node);
    case RECMAP_FEATURE_VAR_LEN:
        if (source->plan->is_output) {
            source->level_count = 1;
            if (!find_steps(source)) return false;
            break;
        }
        source->dimension_count = 0;
        source->level_count = source->plan->is_list ? 2 : 1;
        break;
    case RECMAP_FEATURE_BOXES:
    case RECMAP_FEATURE_FIXED_LEN_SEQUENCE:
        source->level_count = 1;
        if (!find_steps(source)) return false;
        break;
    case RECMAP_FEATURE_RAGGED:
        if (!find_tail(source)) return false;
        break;
    case RECMAP_FEATURE_SPARSE:
        source->level_count = 1;
        if (!add_sizes(source, node)) return false;
        break;
    }
    return make_lists(source, node, 0);
}

static const struct slot *slot_of(const recmap_parser *parser, const struct column_plan *column) {
    if (column->is_output) return &parser->outputs[column->values_slot];
    if (column->feature.kind == RECMAP_FEATURE_SLICED)
        return &parser->slices[column->values_slot].slot;
    return &(column->is_list ? &parser->lists : &parser->features)->slots[column->values_slot];
}

/* Fills in the description from the plan and, if there is data, from the column and its sink, then
 * describes the column. The validity buffer is set last, since only then do the node's buffers
 * exist. */
bool arrow_column_init(struct arrow_node *node, struct arrow_box *box, const recmap_parser *parser,
                       const struct batch_memory *memory, size_t column_index) {
    const struct column_plan *column = &parser->columns[column_index];
    struct column_source m = {.box = box,
                              .plan = column,
                              .dimensions = column->feature.shape,
                              .dimension_count = column->feature.dimension_count};
    node->name = column->feature.name;
    if (memory) {
        m.column = &memory->columns[column_index];
        m.is_scattered = parser->custom_parse || column->feature.kind == RECMAP_FEATURE_SLICED;
        m.slot = slot_of(parser, column);
        m.sink = batch_memory_values((struct batch_memory *)memory, column);
        m.elements = m.column->views ? (const void *)m.column->views : m.column->values;
        m.element_count = m.column->value_count;
        m.offsets = m.column->offsets;
        node->length = (int64_t)m.column->row_count;
    }
    if (arrow_is_channels_first(parser, column) &&
        (!arrow_channels_shape(&m.dimensions, box) ||
         (memory && !arrow_channels_copy(&m.elements, box, m.column))))
        return false;
    if (!make_column(&m, node)) return false;
    if (!memory) return true;
    node->buffers[0] = m.column->validity;
    node->null_count = (int64_t)m.column->null_count;
    return true;
}
