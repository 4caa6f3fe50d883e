#include "parse/decode/read_lists.h"

#include <inttypes.h>

#include "base/text/json.h"
#include "parse/decode/list_decode.h"
#include "parse/example/sequence_wire.h"

/* The state of reading one record. */
struct lists_reader {
    const struct example_names *names;
    struct wire *entries; /* the last entry of each name, or `at` NULL */
    struct wire_trace trace;
    struct wire name; /* of the current list for messages, or `at` NULL */
};

/* Advances to the next field with this tag and returns its contents. Returns false at the end or on
 * a fault, which sets trace->reason. */
static bool next_field(struct wire *contents, struct wire *wire, uint32_t wanted, unsigned depth,
                       struct wire_trace *trace) {
    while (!wire_done(wire)) {
        uint32_t tag;
        if (!wire_read_tag(&tag, wire, trace)) return false;
        if (tag == wanted) return wire_read_bytes(contents, wire, trace);
        if (!wire_skip(wire, tag, depth, trace)) return false;
    }
    return false;
}

/* Finds the last key of an entry, which is the one that counts. Skips the values. */
static bool read_key(struct lists_reader *reader, struct wire entry) {
    struct wire value;
    reader->name = (struct wire){entry.at, entry.at};
    while (next_field(&value, &entry, SEQUENCE_KEY_TAG, SEQUENCE_ENTRY_DEPTH, &reader->trace)) {
        if (!utf8_valid(value.at, wire_left(&value)))
            return wire_fail(&reader->trace, value.at, "feature list name is not UTF-8");
        reader->name = value;
    }
    return !reader->trace.reason;
}

static bool check_steps(struct lists_reader *reader, struct wire list) {
    struct wire body;
    while (next_field(&body, &list, SEQUENCE_STEP_TAG, SEQUENCE_LIST_DEPTH, &reader->trace)) {
        struct example_feature step = {0};
        reader->trace.deeper = 1;
        if (!feature_merge(&step, body, &reader->trace)) return false;
        reader->trace.deeper = 0;
    }
    return !reader->trace.reason;
}

/* Finds and validates a requested list. Lists that a later entry replaces must be valid too, as for
 * protobuf, which parses them all. */
static bool find_list(struct lists_reader *reader, struct wire entry) {
    struct wire rest = entry, list;
    if (!read_key(reader, entry)) {
        reader->name.at = NULL;
        return false;
    }
    size_t index = example_names_find(reader->names, reader->name.at, wire_left(&reader->name));
    if (index == SIZE_MAX) return true;
    while (next_field(&list, &rest, SEQUENCE_LIST_TAG, SEQUENCE_ENTRY_DEPTH, &reader->trace))
        if (!check_steps(reader, list)) return false;
    reader->entries[index] = entry;
    return !reader->trace.reason;
}

static bool find_lists(struct lists_reader *reader, struct wire record) {
    struct wire lists, entry;
    struct wire_trace *trace = &reader->trace;
    while (next_field(&lists, &record, SEQUENCE_LISTS_TAG, SEQUENCE_DEPTH, trace)) {
        while (next_field(&entry, &lists, SEQUENCE_ENTRY_TAG, SEQUENCE_LISTS_DEPTH, trace)) {
            if (!find_list(reader, entry)) return false;
            reader->name.at = NULL;
        }
        if (trace->reason) return false;
    }
    return !trace->reason;
}

static bool tell_fault(const struct lists_reader *reader, const uint8_t *data,
                       struct read_fault *fault) {
    size_t offset = (size_t)(reader->trace.fault_at - data), size;
    if (!reader->name.at)
        return fault_set(fault, RECMAP_CORRUPT, offset, "not a tf.SequenceExample: %s",
                         reader->trace.reason);
    size = wire_left(&reader->name);
    return fault_set(
        fault, RECMAP_CORRUPT, offset, "not a tf.SequenceExample: feature list '%.*s': %s",
        size < 200 ? (int)size : 200, (const char *)reader->name.at, reader->trace.reason);
}

/* Appends one step offset. */
static bool end_step(struct sink *sink, struct read_fault *fault) {
    size_t used = (sink->step_count + 1) * sizeof(int64_t);
    if (!buffer_reserve(&sink->steps, used, used + sizeof(int64_t))) return fault_memory(fault);
    buffer_int64(&sink->steps)[++sink->step_count] = (int64_t)sink->value_count;
    return true;
}

/* Reserves room for a step with a fixed count, which the decoder expects to exist. */
static bool make_room(struct sink *sink, const struct slot *slot) {
    size_t size = recmap_element_size(slot->element), used = sink->value_count * size, end;
    return !__builtin_mul_overflow(sink->value_count + slot->count, size, &end) &&
           buffer_reserve(&sink->values, used, end);
}

static bool read_step(struct sink *sink, const struct slot *slot, struct wire body,
                      const uint8_t *data, size_t step, struct read_fault *fault) {
    struct example_feature feature = {.present = true, .entry = body};
    struct wire_trace trace = {0};
    uint64_t count = 0;
    feature_merge(&feature, body, &trace);
    if (feature.kind == RECMAP_TYPE_NONE) {
        if (!slot->count) return !slot->steps || end_step(sink, fault);
        return fault_set(fault, RECMAP_FEATURE, (size_t)(body.at - data),
                         "feature list '%.200s', step %zu: no values where %s needs %" PRIu64,
                         slot->name, step, slot->shape, slot->count);
    }
    if (slot->count && !make_room(sink, slot)) return fault_memory(fault);
    if (!list_read(&count, sink, slot, sink->value_count, &feature, data, step, fault))
        return false;
    sink->value_count += count;
    return !slot->steps || end_step(sink, fault);
}

static bool read_list(struct sink *sink, const struct slot *slot, struct wire entry,
                      const uint8_t *data, size_t row, struct read_fault *fault) {
    struct wire_trace trace = {0};
    struct wire list, body;
    size_t step = 0;
    if (!entry.at) {
        sink_put_null(sink, slot, row);
        return true;
    }
    while (next_field(&list, &entry, SEQUENCE_LIST_TAG, SEQUENCE_ENTRY_DEPTH, &trace))
        while (next_field(&body, &list, SEQUENCE_STEP_TAG, SEQUENCE_LIST_DEPTH, &trace))
            if (!read_step(sink, slot, body, data, step++, fault)) return false;
    uint64_t end = slot->steps ? sink->step_count : sink->value_count;
    buffer_int64(&sink->rows)[row + 1] = (int64_t)end;
    return true;
}

bool read_lists(struct sink *sinks, struct wire *wire, const recmap_parser *parser,
                const uint8_t *data, size_t size, size_t row, struct read_fault *fault) {
    static const uint8_t nothing[1];
    const struct slot_set *set = &parser->lists;
    struct lists_reader reader = {.names = set->names, .entries = wire};
    if (!data) data = nothing;
    for (size_t i = 0; i < set->count; i++) wire[i] = (struct wire){0};
    if (!find_lists(&reader, (struct wire){data, data + size}))
        return tell_fault(&reader, data, fault);
    for (size_t i = 0; i < set->count; i++)
        if (!read_list(&sinks[i], &set->slots[i], wire[example_names_first(set->names, i)], data,
                       row, fault))
            return false;
    return true;
}
