#include "parse/example/step_count.h"

#include "parse/example/sequence_wire.h"

/* Calls `enter` for the contents of each field with the tag `tag`, and skips all other fields. */
typedef bool (*enter_fn)(void *context, struct wire body, struct wire_trace *trace);

static bool for_each(struct wire message, uint32_t wanted, unsigned depth, enter_fn enter,
                     void *context, struct wire_trace *trace) {
    while (!wire_done(&message)) {
        uint32_t tag;
        struct wire body;
        if (!wire_read_tag(&tag, &message, trace)) return false;
        if (tag != wanted) {
            if (!wire_skip(&message, tag, depth, trace)) return false;
        } else if (!wire_read_bytes(&body, &message, trace) || !enter(context, body, trace)) {
            return false;
        }
    }
    return true;
}

static bool count_step(void *count, struct wire step, struct wire_trace *trace) {
    (void)step;
    (void)trace;
    ++*(uint64_t *)count;
    return true;
}

struct step_counter {
    struct step_count *counts;
    const struct example_names *names;
};

/* The name may follow the list, so the steps are counted before it is known whether they are
 * wanted. Steps are skipped by their sizes, so this is cheap. */
static bool count_entry(void *context, struct wire entry, struct wire_trace *trace) {
    const struct step_counter *counter = context;
    struct wire name = {entry.at, entry.at};
    struct step_count steps = {.is_present = true};
    while (!wire_done(&entry)) {
        uint32_t tag;
        struct wire body;
        if (!wire_read_tag(&tag, &entry, trace)) return false;
        if (tag != SEQUENCE_KEY_TAG && tag != SEQUENCE_LIST_TAG) {
            if (!wire_skip(&entry, tag, SEQUENCE_ENTRY_DEPTH, trace)) return false;
            continue;
        }
        if (!wire_read_bytes(&body, &entry, trace)) return false;
        if (tag == SEQUENCE_LIST_TAG) {
            if (!for_each(body, SEQUENCE_STEP_TAG, SEQUENCE_LIST_DEPTH, count_step, &steps.count,
                          trace))
                return false;
            continue;
        }
        name = body;
        if (!example_name_is_utf8(name.at, wire_left(&name)))
            return wire_fail(trace, name.at, "feature list name is not UTF-8");
    }
    size_t index = example_names_find(counter->names, name.at, wire_left(&name));
    if (index != SIZE_MAX) counter->counts[index] = steps;
    return true;
}

static bool count_lists(void *context, struct wire lists, struct wire_trace *trace) {
    return for_each(lists, SEQUENCE_ENTRY_TAG, SEQUENCE_LISTS_DEPTH, count_entry, context, trace);
}

bool step_count_read(struct step_count *counts, const struct example_names *names,
                     const uint8_t *data, size_t size, struct example_fault *fault) {
    struct step_counter counter = {counts, names};
    struct example_reader reader = example_reader_begin(data, size);
    for (size_t i = 0; i < example_names_count(names); i++) counts[i] = (struct step_count){0};
    if (!reader.trace.reason)
        for_each(reader.record, SEQUENCE_LISTS_TAG, SEQUENCE_DEPTH, count_lists, &counter,
                 &reader.trace);
    return example_reader_end(&reader, fault);
}
