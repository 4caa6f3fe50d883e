#include "parse/example/sequence_features.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/text/json.h"
#include "parse/example/sequence_wire.h"

/* Where to read to, and what went wrong: a fault in the trace, or no memory. */
struct sequence_reader {
    struct sequence_features *target;
    struct wire_trace *trace;
    bool has_memory;
};

static bool run_out(struct sequence_reader *reader) {
    reader->has_memory = false;
    return false;
}

static bool read_step(struct sequence_reader *reader, struct wire body) {
    struct sequence_features *target = reader->target;
    struct example_feature step = {.present = true, .entry = body};
    reader->trace->deeper = 1;
    if (!feature_merge(&step, body, reader->trace)) return false;
    reader->trace->deeper = 0;
    if (!array_reserve(&target->steps, &target->step_capacity, target->step_count + 1, sizeof step))
        return run_out(reader);
    target->steps[target->step_count++] = step;
    return true;
}

/* A list stored in several pieces has the steps of all of them. */
static bool read_steps(struct sequence_reader *reader, struct wire list) {
    while (!wire_done(&list)) {
        uint32_t tag;
        struct wire body;
        if (!wire_read_tag(&tag, &list, reader->trace)) return false;
        if (tag != SEQUENCE_STEP_TAG) {
            if (!wire_skip(&list, tag, SEQUENCE_LIST_DEPTH, reader->trace)) return false;
            continue;
        }
        if (!wire_read_bytes(&body, &list, reader->trace) || !read_step(reader, body)) return false;
    }
    return true;
}

static bool read_name(struct sequence_list *list, struct wire name, struct wire_trace *trace) {
    list->name = name.at;
    list->name_size = wire_left(&name);
    return utf8_valid(name.at, list->name_size) ||
           wire_fail(trace, name.at, "feature list name is not UTF-8");
}

/* Fields may come in any order, so the list is completed first and added at the end of the entry.
 */
static bool read_entry(struct sequence_reader *reader, struct wire entry) {
    struct sequence_features *target = reader->target;
    struct sequence_list list = {.name = entry.at, .first_step = target->step_count};
    while (!wire_done(&entry)) {
        uint32_t tag;
        struct wire bytes;
        if (!wire_read_tag(&tag, &entry, reader->trace)) return false;
        if (tag != SEQUENCE_KEY_TAG && tag != SEQUENCE_LIST_TAG) {
            if (!wire_skip(&entry, tag, SEQUENCE_ENTRY_DEPTH, reader->trace)) return false;
            continue;
        }
        if (!wire_read_bytes(&bytes, &entry, reader->trace)) return false;
        bool is_good = tag == SEQUENCE_KEY_TAG ? read_name(&list, bytes, reader->trace)
                                               : read_steps(reader, bytes);
        if (!is_good) return false;
    }
    list.step_count = target->step_count - list.first_step;
    if (!array_reserve(&target->lists, &target->list_capacity, target->list_count + 1, sizeof list))
        return run_out(reader);
    target->lists[target->list_count++] = list;
    return true;
}

static bool read_lists(struct sequence_reader *reader, struct wire lists) {
    reader->target->has_lists = true;
    while (!wire_done(&lists)) {
        uint32_t tag;
        struct wire entry;
        if (!wire_read_tag(&tag, &lists, reader->trace)) return false;
        if (tag != SEQUENCE_ENTRY_TAG) {
            if (!wire_skip(&lists, tag, SEQUENCE_LISTS_DEPTH, reader->trace)) return false;
            continue;
        }
        if (!wire_read_bytes(&entry, &lists, reader->trace) || !read_entry(reader, entry))
            return false;
    }
    return true;
}

/* The context is read like the features of an Example, piece by piece. */
static bool read_context(struct sequence_reader *reader, struct example_reader *features,
                         struct wire context) {
    reader->target->context.has_features = true;
    features->features = context;
    if (!example_features_take(&reader->target->context, features)) return run_out(reader);
    return !reader->trace->reason;
}

static bool read_record(struct sequence_reader *reader, struct example_reader *features,
                        struct wire record) {
    while (!wire_done(&record)) {
        uint32_t tag;
        struct wire bytes;
        if (!wire_read_tag(&tag, &record, reader->trace)) return false;
        if (tag != SEQUENCE_CONTEXT_TAG && tag != SEQUENCE_LISTS_TAG) {
            if (!wire_skip(&record, tag, SEQUENCE_DEPTH, reader->trace)) return false;
            continue;
        }
        if (!wire_read_bytes(&bytes, &record, reader->trace)) return false;
        bool is_good = tag == SEQUENCE_CONTEXT_TAG ? read_context(reader, features, bytes)
                                                   : read_lists(reader, bytes);
        if (!is_good) return false;
    }
    return true;
}

static int compare_names(const struct sequence_list *a, const struct sequence_list *b) {
    size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, size);
    return order ? order : (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

/* Lists with the same name keep their order in the record, which is the order of their names'
 * addresses. */
static int compare_lists(const void *left, const void *right) {
    const struct sequence_list *a = left, *b = right;
    int order = compare_names(a, b);
    return order ? order : (a->name > b->name) - (a->name < b->name);
}

static void settle(struct sequence_features *sequence) {
    size_t kept_count = 0, count = sequence->list_count;
    if (count > 1) qsort(sequence->lists, count, sizeof *sequence->lists, compare_lists);
    for (size_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count ||
                       compare_names(&sequence->lists[i], &sequence->lists[i + 1]) != 0;
        if (is_last) sequence->lists[kept_count++] = sequence->lists[i];
    }
    sequence->list_count = kept_count;
    example_features_settle(&sequence->context);
}

recmap_status sequence_features_read(struct sequence_features *sequence, const uint8_t *data,
                                     size_t size, struct example_fault *fault) {
    struct example_reader features = example_reader_begin(data, size);
    struct sequence_reader reader = {sequence, &features.trace, true};
    struct wire record = features.record;
    features.record = (struct wire){record.end, record.end};
    sequence->context.count = sequence->list_count = sequence->step_count = 0;
    sequence->context.has_features = sequence->has_lists = false;
    bool is_read = !features.trace.reason && read_record(&reader, &features, record);
    if (!reader.has_memory) return RECMAP_NO_MEMORY;
    if (!is_read) {
        example_reader_end(&features, fault);
        return RECMAP_CORRUPT;
    }
    settle(sequence);
    sequence->saw_unknown = features.trace.saw_unknown;
    return RECMAP_OK;
}

void sequence_features_deinit(struct sequence_features *sequence) {
    example_features_deinit(&sequence->context);
    free(sequence->lists);
    free(sequence->steps);
    *sequence = (struct sequence_features){0};
}

const struct example_feature *sequence_steps(const struct sequence_features *sequence,
                                             const struct sequence_list *list) {
    return list->step_count ? sequence->steps + list->first_step : NULL;
}

struct example_values sequence_values_begin(const struct example_feature *feature) {
    struct example_values values = {.kind = feature->kind, .lists_at = feature->lists_at};
    if (feature->kind == RECMAP_TYPE_NONE) return values;
    values.body = feature->entry;
    values.entry = (struct wire){feature->entry.end, feature->entry.end};
    return values;
}
