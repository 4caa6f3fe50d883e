#include "parse/columns/custom_row.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "parse/decode/read_paths.h"
#include "parse/plan/convert.h"

struct recmap_row {
    struct batch_memory *memory;
    size_t row;
    struct read_fault *fault;
    bool has_fault;
};

recmap_status custom_row_check(const recmap_feature *features, size_t count, recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        const recmap_feature *feature = &features[i];
        const char *name = feature->name ? feature->name : "";
        if (feature->kind == RECMAP_FEATURE_RAGGED || feature->kind == RECMAP_FEATURE_SPARSE ||
            feature->kind == RECMAP_FEATURE_SLICED || feature->kind == RECMAP_FEATURE_IMAGE ||
            feature->kind == RECMAP_FEATURE_BOXES || feature->image)
            return fail(error, RECMAP_INVALID,
                        "feature '%.200s': a custom parser supports only FIXED_LEN, VAR_LEN and "
                        "FIXED_LEN_SEQUENCE",
                        name);
        if (feature->raw || feature->key || feature->as_bits)
            return fail(error, RECMAP_INVALID,
                        "feature '%.200s': raw, as_bits and key apply to tf.Example, not to custom "
                        "parsers",
                        name);
    }
    return RECMAP_OK;
}

static recmap_status fail_row(recmap_row *row) {
    row->has_fault = true;
    return row->fault->status;
}

recmap_status recmap_row_fail(recmap_row *row, uint64_t offset, const char *message) {
    fault_set(row->fault, RECMAP_CORRUPT, offset > SIZE_MAX ? SIZE_MAX : (size_t)offset, "%s",
              message);
    return fail_row(row);
}

/* Where the values of a row go. */
struct row_values {
    struct sink *sink;
    const struct slot *slot;
    void *elements;
    uint64_t begin; /* index in the sink's values */
};

/* Checks everything that the user's function passes, because a wrong type or count would write
 * outside the row. Room for the values is reserved here, for fixed counts at the row's place and
 * otherwise at the end of the sink. */
static bool find_values(struct row_values *values, recmap_row *row, size_t column, recmap_type type,
                        uint64_t count) {
    const recmap_parser *parser = row->memory->parser;
    if (column >= parser->column_count)
        return fault_set(row->fault, RECMAP_FEATURE, SIZE_MAX, "there is no column %zu", column);
    size_t index = parser->columns[column].values_slot;
    const struct slot *slot = &parser->features.slots[index];
    if (slot->list != type)
        return fault_set(row->fault, RECMAP_FEATURE, SIZE_MAX,
                         "feature '%.200s' was set to values of another type", slot->name);
    if (slot->count ? count != slot->count : count % slot->multiple != 0)
        return fault_set(row->fault, RECMAP_FEATURE, SIZE_MAX,
                         "feature '%.200s' was set to %" PRIu64 " value%s, which %s not fit %s",
                         slot->name, count, plural(count), count == 1 ? "does" : "do", slot->shape);
    struct sink *sink = &row->memory->sinks[index];
    uint64_t begin = slot->count ? row->row * slot->count
                                 : (uint64_t)buffer_int64(&sink->rows)[row->row];
    size_t element = recmap_element_size(slot->element), end;
    if (__builtin_mul_overflow(begin + count, element, &end) ||
        !buffer_reserve(&sink->values, (size_t)begin * element, end))
        return fault_memory(row->fault);
    *values = (struct row_values){sink, slot, sink->values.data + begin * element, begin};
    return true;
}

/* Finishes the values, of which the first `done` were converted. */
static recmap_status end_values(const struct row_values *values, recmap_row *row, size_t done,
                                size_t count) {
    const struct slot *slot = values->slot;
    if (done < count) {
        fault_set(row->fault, RECMAP_FEATURE, SIZE_MAX,
                  "feature '%.200s': %s cannot hold value %zu", slot->name,
                  recmap_element_name(slot->element), done);
        return fail_row(row);
    }
    row->memory->is_set[slot - row->memory->parser->features.slots] = true;
    if (slot->count) return RECMAP_OK;
    values->sink->value_count = values->begin + count;
    buffer_int64(&values->sink->rows)[row->row + 1] = (int64_t)values->sink->value_count;
    return RECMAP_OK;
}

recmap_status recmap_row_set_int64(recmap_row *row, size_t column, const int64_t *values,
                                   size_t count) {
    struct row_values target = {0};
    if (!find_values(&target, row, column, RECMAP_TYPE_INT64, count)) return fail_row(row);
    return end_values(&target, row,
                      convert_int64(target.elements, target.slot->element, values, count), count);
}

recmap_status recmap_row_set_float(recmap_row *row, size_t column, const float *values,
                                   size_t count) {
    struct row_values target = {0};
    if (!find_values(&target, row, column, RECMAP_TYPE_FLOAT, count)) return fail_row(row);
    return end_values(&target, row,
                      convert_float(target.elements, target.slot->element, values, count), count);
}

recmap_status recmap_row_set_bytes(recmap_row *row, size_t column, const recmap_bytes *values,
                                   size_t count) {
    static const uint8_t nothing[1];
    struct row_values target = {0};
    if (!find_values(&target, row, column, RECMAP_TYPE_BYTES, count)) return fail_row(row);
    recmap_bytes *views = target.elements;
    for (size_t i = 0; i < count; i++) {
        views[i] = values[i].size ? values[i] : (recmap_bytes){nothing, 0};
        if (values[i].size <= INT32_MAX) continue;
        fault_set(row->fault, RECMAP_FEATURE, SIZE_MAX,
                  "feature '%.200s': value %zu has 2 GiB or more, too much for a view",
                  target.slot->name, i);
        return fail_row(row);
    }
    return end_values(&target, row, count, count);
}

/* Fills in the columns that the function did not set. */
static bool fill_missing(struct batch_memory *memory, size_t row, struct read_fault *fault) {
    const struct slot_set *set = &memory->parser->features;
    for (size_t i = 0; i < set->count; i++) {
        if (memory->is_set[i] || read_entry_missing(&memory->sinks[i], &set->slots[i], row))
            continue;
        return fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                         "feature '%.200s' is missing and has no default", set->slots[i].name);
    }
    return true;
}

bool custom_row_read(struct batch_memory *memory, const recmap_record *record, size_t row,
                     struct read_fault *fault) {
    const recmap_parser *plan = memory->parser;
    recmap_row filled = {.memory = memory, .row = row, .fault = fault};
    memset(memory->is_set, 0, plan->features.count);
    recmap_status status = plan->custom_parse(&filled, record, plan->custom_context);
    if (filled.has_fault) return false;
    if (status != RECMAP_OK)
        return fault_set(fault, RECMAP_CORRUPT, SIZE_MAX,
                         "the parser's function rejected the record");
    return fill_missing(memory, row, fault);
}
