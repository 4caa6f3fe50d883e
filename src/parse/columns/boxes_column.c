#include "parse/columns/boxes_column.h"

#include <inttypes.h>
#include <math.h>

#include "base/core/plural.h"

/* The coordinates of a row: ymin, xmin, ymax and xmax of each box. */
struct coordinates {
    const float *values[4];
    size_t step; /* from a value to that of the next box */
    uint64_t count;
    bool is_null; /* the record has none of the features */
};

static const struct sink *sink_of(const struct batch_memory *memory,
                                  const struct boxes_feature *boxes, size_t edge) {
    return &memory->sinks[boxes->coordinate[edge]];
}

static bool is_null(const struct sink *sink, size_t row) {
    return !(sink->validity.data[row >> 3] >> (row & 7) & 1);
}

/* Coordinates that are in one feature, four for each box. */
static void find_packed(struct coordinates *coordinates, const struct batch_memory *memory,
                        const struct boxes_feature *boxes, size_t row) {
    const struct sink *sink = sink_of(memory, boxes, 0);
    const int64_t *rows = buffer_int64(&sink->rows);
    coordinates->is_null = is_null(sink, row);
    coordinates->step = 4;
    coordinates->count = (uint64_t)(rows[row + 1] - rows[row]) / 4;
    for (size_t i = 0; i < 4; i++)
        coordinates->values[i] = (const float *)(const void *)sink->values.data + rows[row] + i;
}

static bool find_coordinates(struct coordinates *coordinates, const struct batch_memory *memory,
                             const struct boxes_feature *boxes, size_t row,
                             struct read_fault *fault) {
    const char *first_key = memory->parser->features.slots[boxes->coordinate[0]].name;
    if (boxes->is_packed) {
        find_packed(coordinates, memory, boxes, row);
        return true;
    }
    coordinates->is_null = true;
    coordinates->step = 1;
    for (size_t i = 0; i < 4; i++) {
        const struct sink *sink = sink_of(memory, boxes, i);
        const int64_t *rows = buffer_int64(&sink->rows);
        const uint64_t count = (uint64_t)(rows[row + 1] - rows[row]);
        coordinates->values[i] = (const float *)(const void *)sink->values.data + rows[row];
        coordinates->is_null &= is_null(sink, row);
        if (i == 0) coordinates->count = count;
        if (count == coordinates->count) continue;
        fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                  "feature '%.200s' has %" PRIu64 " value%s, but '%.200s' has %" PRIu64
                  ": both need one value for each box",
                  memory->parser->features.slots[boxes->coordinate[i]].name, count, plural(count),
                  first_key, coordinates->count);
        return fault_blame(fault, boxes->coordinate[i]);
    }
    return true;
}

static bool check_coordinates(const struct coordinates *coordinates,
                              const struct batch_memory *memory, const struct boxes_feature *boxes,
                              struct read_fault *fault) {
    for (size_t edge = 0; edge < 4; edge++)
        for (uint64_t i = 0; i < coordinates->count; i++) {
            const float value = coordinates->values[edge][i * coordinates->step];
            if (isfinite(value)) continue;
            fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                      "feature '%.200s': the coordinate of box %" PRIu64 " is %s",
                      memory->parser->features.slots[boxes->coordinate[edge]].name, i,
                      isnan(value) ? "NaN" : "infinite");
            fault_advise(fault, "skip, replace or collect bad records, or write the record again");
            return fault_blame(fault, boxes->coordinate[edge]);
        }
    return true;
}

static bool move_boxes(recmap_columns *columns, const struct boxes_feature *boxes, size_t row,
                       struct read_fault *fault) {
    struct batch_memory *memory = columns->batch;
    struct sink *output = batch_memory_output(memory, boxes->output);
    const struct slot *slot = &memory->parser->outputs[boxes->output];
    struct coordinates coordinates;
    if (!find_coordinates(&coordinates, memory, boxes, row, fault) ||
        !check_coordinates(&coordinates, memory, boxes, fault))
        return false;
    float *values = sink_extend(output, slot, row, coordinates.count * slot->multiple);
    if (!values) return fault_memory(fault);
    for (uint64_t i = 0; i < coordinates.count; i++, values += slot->multiple) {
        float box[4], moved[4];
        for (size_t edge = 0; edge < 4; edge++)
            box[edge] = coordinates.values[edge][i * coordinates.step];
        const float visible = placement_move_box(moved, &columns->image_scratch.placement, box);
        if (boxes->is_visible) *values = visible;
        else
            for (size_t edge = 0; edge < 4; edge++) values[edge] = moved[edge];
    }
    if (coordinates.is_null) sink_set_null(output, row);
    return true;
}

bool boxes_columns_read(recmap_columns *columns, size_t image_index, size_t row,
                        struct read_fault *fault) {
    const recmap_parser *parser = columns->batch->parser;
    for (size_t i = 0; i < parser->boxes_count; i++)
        if (parser->boxes[i].image == image_index &&
            !move_boxes(columns, &parser->boxes[i], row, fault))
            return false;
    return true;
}
