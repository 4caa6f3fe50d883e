#include "parse/columns/assemble.h"

#include <string.h>

#include "parse/columns/assembly.h"
#include "parse/columns/image_assembly.h"
#include "parse/columns/ragged.h"
#include "parse/columns/sequence.h"
#include "parse/columns/sparse.h"

static bool assemble_fixed(const struct assembly *a) {
    const recmap_feature *feature = &a->plan->feature;
    uint64_t rows = a->memory->row_count;
    return assembly_set_shape(a, rows, feature->shape, feature->dimension_count) &&
           assembly_set_values(a, a->sink->values.data, rows * a->plan->stride);
}

static bool assemble_var_len(const struct assembly *a) {
    if (a->plan->is_output) return assemble_steps(a);
    const int64_t *offsets[] = {buffer_int64(&a->sink->rows), buffer_int64(&a->sink->steps)};
    return assembly_set_shape(a, a->sink->value_count, NULL, 0) &&
           assembly_set_offsets(a, offsets, a->plan->is_list ? 2 : 1) &&
           assembly_set_values(a, a->sink->values.data, a->sink->value_count);
}

static bool assemble_sliced(const struct assembly *a) {
    const recmap_feature *feature = &a->plan->feature;
    uint64_t rows = a->memory->row_count, width = a->memory->row_width;
    if (!assembly_set_shape(a, rows, NULL, feature->dimension_count + 1)) return false;
    uint64_t *shape =
        buffer_uint64(batch_memory_part(a->memory, a->column_index, BATCH_PART_SHAPE));
    shape[1] = width;
    memcpy(shape + 2, feature->shape, feature->dimension_count * sizeof *shape);
    return assembly_set_values(a, a->sink->values.data, rows * width * a->plan->stride);
}

/* Sets everything that all kinds of columns have in common, then lets the kind add its values,
 * shape and offsets. */
static bool assemble_column(struct batch_memory *memory, size_t column_index,
                            struct interrupt *interrupt) {
    const struct column_plan *plan = &memory->parser->columns[column_index];
    const struct sink *sink = batch_memory_values(memory, plan);
    recmap_column *column = &memory->columns[column_index];
    *column = (recmap_column){.name = plan->feature.name,
                              .kind = plan->feature.kind,
                              .element = plan->feature.element,
                              .row_count = memory->row_count,
                              .validity = sink->null_count ? sink->validity.data : NULL,
                              .null_count = sink->null_count};
    const struct assembly a = {memory, column_index, plan, sink, column, interrupt};
    switch (plan->feature.kind) {
    case RECMAP_FEATURE_IMAGE: return assemble_image(&a);
    case RECMAP_FEATURE_BOXES: return assemble_steps(&a);
    case RECMAP_FEATURE_FIXED_LEN: return assemble_fixed(&a);
    case RECMAP_FEATURE_VAR_LEN: return assemble_var_len(&a);
    case RECMAP_FEATURE_FIXED_LEN_SEQUENCE: return assemble_sequence(&a);
    case RECMAP_FEATURE_RAGGED: return assemble_ragged(&a);
    case RECMAP_FEATURE_SPARSE: return assemble_sparse(&a);
    case RECMAP_FEATURE_SLICED: return assemble_sliced(&a);
    }
    return false;
}

/* Columns with a limit have sinks of their own or share them with columns of the same limit. Rows
 * that are truncated already stay as they are. */
static void truncate_rows(struct batch_memory *memory, size_t column_index) {
    const recmap_parser *parser = memory->parser;
    const struct column_plan *plan = &parser->columns[column_index];
    if (!plan->feature.max_length || plan->is_output) return; /* no more pictures were decoded */
    const struct slot_set *slots = plan->is_list ? &parser->lists : &parser->features;
    sink_truncate_rows(batch_memory_sink(memory, plan->is_list, plan->values_slot),
                       &slots->slots[plan->values_slot], memory->row_count);
}

recmap_status assemble_columns(struct batch_memory *memory, struct interrupt *interrupt,
                               recmap_error *error) {
    if (interrupt) interrupt->is_stopped = false; /* by an earlier call */
    for (size_t i = 0; i < memory->parser->column_count; i++) {
        truncate_rows(memory, i);
        if (assemble_column(memory, i, interrupt)) continue;
        return interrupt && interrupt->is_stopped ? interrupt_fail(error) : fail_memory(error);
    }
    memory->column_count = memory->parser->column_count;
    return RECMAP_OK;
}
