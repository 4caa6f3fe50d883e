#include "unit/parse/columns/asked_features.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/json.h"
#include "parse/example/example.h"

static void *must_have(void *memory) {
    if (!memory) abort();
    return memory;
}

bool entry_fields_read(struct entry_fields *fields, struct wire entry) {
    struct wire_trace trace = {0};
    uint32_t tag;
    struct wire skipped;
    *fields = (struct entry_fields){{entry.at, entry.at}, {NULL, NULL}};
    while (!wire_done(&entry)) {
        if (!wire_read_tag(&tag, &entry, &trace)) return false;
        struct wire *field = tag == 10 ? &fields->name : tag == 18 ? &fields->value : NULL;
        if (field ? !wire_read_bytes(&skipped, &entry, &trace)
                  : !wire_skip(&entry, tag, EXAMPLE_ENTRY_DEPTH, &trace))
            return false;
        if (field) *field = skipped;
    }
    return true;
}

const struct asked_feature *asked_find(const struct asked_features *request,
                                       const struct wire *name) {
    for (size_t i = 0; i < request->count; i++)
        if (strlen(request->features[i].name) == wire_left(name) &&
            memcmp(request->features[i].name, name->at, wire_left(name)) == 0)
            return &request->features[i];
    return NULL;
}

/* The kind of the last list that can be made out. */
static recmap_type guess_kind(struct wire value) {
    struct wire_trace trace = {0};
    recmap_type kind = RECMAP_TYPE_NONE;
    uint32_t tag;
    struct wire list;
    while (value.at && !wire_done(&value) && wire_read_tag(&tag, &value, &trace)) {
        if (tag != 10 && tag != 18 && tag != 26) {
            if (!wire_skip(&value, tag, EXAMPLE_FEATURE_DEPTH, &trace)) break;
            continue;
        }
        kind = tag == 10 ? RECMAP_TYPE_BYTES : tag == 18 ? RECMAP_TYPE_FLOAT : RECMAP_TYPE_INT64;
        if (!wire_read_bytes(&list, &value, &trace)) break;
    }
    return kind;
}

static void ask_for(struct asked_features *request, struct wire entry, unsigned leave_out) {
    struct entry_fields fields;
    entry_fields_read(&fields, entry);
    size_t size = wire_left(&fields.name);
    if (!utf8_valid(fields.name.at, size) || memchr(fields.name.at, 0, size)) return;
    if (request->count == ASKED_MAX) return;
    if (leave_out && (leave_out + size * 7 + (size ? *fields.name.at : 0u)) % 3 == 0) return;
    struct asked_feature *feature = (struct asked_feature *)asked_find(request, &fields.name);
    if (!feature) {
        feature = &request->features[request->count++];
        feature->name = must_have(malloc(size + 1));
        memcpy(feature->name, fields.name.at, size);
        feature->name[size] = 0;
    }
    feature->kind = guess_kind(fields.value);
    feature->fixed = 0;
    feature->is_converted = false;
}

bool is_int32(const recmap_value *value) {
    return value->as.int64 >= INT32_MIN && value->as.int64 <= INT32_MAX;
}

/* Every float can be a double; integers only where all are small. */
static bool can_be_converted(const struct example_feature *feature) {
    struct example_values values = example_values_begin(feature);
    recmap_value value;
    while (feature->kind == RECMAP_TYPE_INT64 && example_values_next(&value, &values))
        if (!is_int32(&value)) return false;
    return feature->kind != RECMAP_TYPE_BYTES;
}

/* How many values there are is only known of a record that can be read. */
static void ask_for_counts(struct asked_features *request, const uint8_t *data, size_t size) {
    struct example_features features = EXAMPLE_FEATURES_INIT;
    if (example_features_read(&features, data, size, NULL) == RECMAP_NO_MEMORY) abort();
    for (size_t i = 0; i < features.count; i++) {
        const struct example_entry *entry = &features.entries[i];
        struct wire name = {entry->name, entry->name + entry->name_size};
        struct asked_feature *feature = (struct asked_feature *)asked_find(request, &name);
        if (!feature) continue;
        feature->kind = entry->feature.kind;
        feature->fixed = entry->feature.count;
        feature->is_converted = (i + size) % 2 && can_be_converted(&entry->feature);
    }
    example_features_deinit(&features);
}

/* Reads the entries of the record and asks for each feature found, even if the record is damaged
 * further on. */
void asked_infer(struct asked_features *request, const uint8_t *data, size_t size,
                 unsigned leave_out) {
    struct wire_trace trace = {0};
    struct wire record = {data, data + size}, features, entry;
    uint32_t tag;
    request->count = 0;
    while (!wire_done(&record) && wire_read_tag(&tag, &record, &trace)) {
        if (tag != 10) {
            if (!wire_skip(&record, tag, EXAMPLE_DEPTH, &trace)) break;
            continue;
        }
        if (!wire_read_bytes(&features, &record, &trace)) break;
        while (!wire_done(&features) && wire_read_tag(&tag, &features, &trace)) {
            if (tag != 10) {
                if (!wire_skip(&features, tag, EXAMPLE_FEATURES_DEPTH, &trace)) break;
                continue;
            }
            if (!wire_read_bytes(&entry, &features, &trace)) break;
            ask_for(request, entry, leave_out);
        }
    }
    ask_for_counts(request, data, size);
}

void asked_deinit(struct asked_features *request) {
    for (size_t i = 0; i < request->count; i++) free(request->features[i].name);
    request->count = 0;
}
