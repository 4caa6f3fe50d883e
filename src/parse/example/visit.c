/* Passes the features of a record to a callback, with their values as arrays. */
#include <recmap/example.h>

#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "parse/example/foreign.h"
#include "parse/example/sequence_features.h"

/* The values of one feature. The arrays keep their memory from feature to feature. */
struct value_buffer {
    int64_t *int64s;
    float *floats;
    recmap_bytes *bytes;
    size_t int64_capacity;
    size_t float_capacity;
    size_t bytes_capacity;
};

static void value_buffer_deinit(struct value_buffer *buffer) {
    free(buffer->int64s);
    free(buffer->floats);
    free(buffer->bytes);
}

static bool value_buffer_reserve(struct value_buffer *buffer, recmap_type type, size_t count) {
    size_t needed = count ? count : 1; /* no array is NULL */
    switch (type) {
    case RECMAP_TYPE_INT64:
        return array_reserve(&buffer->int64s, &buffer->int64_capacity, needed, sizeof(int64_t));
    case RECMAP_TYPE_FLOAT:
        return array_reserve(&buffer->floats, &buffer->float_capacity, needed, sizeof(float));
    case RECMAP_TYPE_BYTES:
        return array_reserve(&buffer->bytes, &buffer->bytes_capacity, needed, sizeof(recmap_bytes));
    default: return true;
    }
}

static void value_buffer_set(struct value_buffer *buffer, size_t index, const recmap_value *value) {
    switch (value->type) {
    case RECMAP_TYPE_INT64: buffer->int64s[index] = value->as.int64; break;
    case RECMAP_TYPE_FLOAT: buffer->floats[index] = value->as.float32; break;
    default:
        buffer->bytes[index] = (recmap_bytes){value->as.bytes.data, value->as.bytes.size};
        break;
    }
}

struct visitor {
    recmap_example_visit_fn visit;
    void *context;
    struct value_buffer buffer;
    recmap_error *error;
};

/* Fills the values of `part` and passes it on. */
static recmap_status visit_values(struct visitor *visitor, recmap_example_part part,
                                  const struct example_feature *feature,
                                  struct example_values values) {
    struct value_buffer *buffer = &visitor->buffer;
    part.type = feature->kind;
    if (!value_buffer_reserve(buffer, feature->kind, feature->count))
        return fail_memory(visitor->error);
    recmap_value value;
    while (feature->kind != RECMAP_TYPE_NONE && part.count < feature->count &&
           example_values_next(&value, &values))
        value_buffer_set(buffer, part.count++, &value);
    if (part.type == RECMAP_TYPE_INT64) part.int64s = buffer->int64s;
    if (part.type == RECMAP_TYPE_FLOAT) part.floats = buffer->floats;
    if (part.type == RECMAP_TYPE_BYTES) part.bytes = buffer->bytes;
    return visitor->visit(&part, visitor->context);
}

static recmap_status visit_features(struct visitor *visitor,
                                    const struct example_features *features) {
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        recmap_example_part part = {.kind = RECMAP_EXAMPLE_PART_FEATURE,
                                    .name = (const char *)entry->name,
                                    .name_size = entry->name_size};
        status =
            visit_values(visitor, part, &entry->feature, example_values_begin(&entry->feature));
    }
    return status;
}

static recmap_status visit_list(struct visitor *visitor, const struct sequence_features *sequence,
                                const struct sequence_list *list) {
    recmap_example_part part = {.kind = RECMAP_EXAMPLE_PART_LIST,
                                .name = (const char *)list->name,
                                .name_size = list->name_size,
                                .count = list->step_count};
    recmap_status status = visitor->visit(&part, visitor->context);
    const struct example_feature *steps = sequence_steps(sequence, list);
    part.kind = RECMAP_EXAMPLE_PART_STEP;
    part.count = 0;
    for (size_t i = 0; status == RECMAP_OK && i < list->step_count; i++)
        status = visit_values(visitor, part, &steps[i], sequence_values_begin(&steps[i]));
    return status;
}

static recmap_status visit_lists(struct visitor *visitor,
                                 const struct sequence_features *sequence) {
    recmap_status status = visit_features(visitor, &sequence->context);
    for (size_t i = 0; status == RECMAP_OK && i < sequence->list_count; i++)
        status = visit_list(visitor, sequence, &sequence->lists[i]);
    return status;
}

static recmap_status fail_fault(recmap_error *error, const char *message_name,
                                const struct example_fault *fault) {
    fail(error, RECMAP_CORRUPT, "the record is not a %s: %s", message_name, fault->reason);
    fail_at(error, NULL, RECMAP_NO_RECORD, fault->offset);
    return RECMAP_CORRUPT;
}

/* Reads the record as a SequenceExample. `is_sequence` is false if it has no feature lists. */
static recmap_status try_sequence(bool *is_sequence, struct visitor *visitor, const void *data,
                                  size_t size) {
    struct sequence_features sequence = {0};
    struct example_fault fault;
    recmap_status status = sequence_features_read(&sequence, data, size, &fault);
    *is_sequence = status == RECMAP_OK && sequence.has_lists;
    if (status == RECMAP_CORRUPT) status = fail_fault(visitor->error, "tf.SequenceExample", &fault);
    else if (status != RECMAP_OK) status = fail_memory(visitor->error);
    else if (*is_sequence) status = visit_lists(visitor, &sequence);
    sequence_features_deinit(&sequence);
    return status;
}

/* A SequenceExample is also an Example with an unknown field, so a record is a SequenceExample if
 * it has unknown fields and one of them is the feature lists. */
static recmap_status visit_record(struct visitor *visitor, const void *data, size_t size) {
    struct example_features features = EXAMPLE_FEATURES_INIT;
    struct example_fault fault;
    bool is_sequence = false;
    recmap_status status = example_features_read(&features, data, size, &fault);
    if (status == RECMAP_CORRUPT) status = fail_fault(visitor->error, "tf.Example", &fault);
    else if (status != RECMAP_OK) status = fail_memory(visitor->error);
    else if (features.saw_unknown) status = try_sequence(&is_sequence, visitor, data, size);
    if (status == RECMAP_OK && !is_sequence) status = visit_features(visitor, &features);
    example_features_deinit(&features);
    return status;
}

recmap_status recmap_example_visit(recmap_example_visit_fn visit, void *context, const void *data,
                                   size_t size, recmap_error *error) {
    struct visitor visitor = {.visit = visit, .context = context, .error = error};
    recmap_status status = visit_record(&visitor, data, size);
    value_buffer_deinit(&visitor.buffer);
    return status;
}

recmap_status recmap_example_check(const void *data, size_t size, recmap_error *error) {
    struct foreign foreign;
    if (!foreign_find(&foreign, data, size)) return RECMAP_OK;
    fail(error, RECMAP_CORRUPT, "the record is not a tf.Example, but %s", foreign.name);
    fail_advise(error, "%s", foreign.advice);
    return RECMAP_CORRUPT;
}
