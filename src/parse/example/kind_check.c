/* Which kind each feature has had in the records so far. A record is read twice: the first pass
 * lists its features and finds out whether it is an Example at all, so that other bytes leave
 * nothing allocated. */
#define _XOPEN_SOURCE 700
#include <recmap/example.h>

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/text/json.h"
#include "parse/example/feature.h"
#include "parse/example/sequence_wire.h"

enum {
    NAMES_MAX = 1 << 16, /* names beyond these are not checked */
    WARNINGS_MAX = 64,
    SHOWN_MAX = 200, /* bytes of a name in a warning */
    PACKED_TAG = 1 << 3 | WIRE_BYTES,
};

/* A name with the kind of its values, in the first record that has any. */
struct known_kind {
    const uint8_t *name; /* follows the struct; in a key for a search, in the record */
    size_t name_size;
    bool is_list;
    bool is_reported;
    recmap_type kind;
    uint64_t record;
};

/* A feature of the record that is read, or a feature list. */
struct record_kind {
    const uint8_t *name;
    size_t name_size;
    bool is_list;
    recmap_type kind;      /* of its values; NONE if it has none */
    recmap_type last_kind; /* of the last step of a list whose steps differ; else NONE */
};

struct recmap_kind_check {
    void *tree; /* of tsearch: no choice of names makes it slow */
    struct known_kind **names;
    size_t name_count, name_capacity;
    /* The names of the record before, in its order, which usually repeats in the next record. */
    struct known_kind **order;
    size_t order_count, order_capacity;
    struct record_kind *features; /* of the record that is read */
    size_t feature_count, feature_capacity;
    bool has_memory;
    uint64_t record_count;
    recmap_error **warnings;
    size_t warning_count, warning_capacity;
};

static int compare_kinds(const void *left, const void *right) {
    const struct known_kind *a = left, *b = right;
    if (a->is_list != b->is_list) return a->is_list ? 1 : -1;
    if (a->name_size != b->name_size) return a->name_size < b->name_size ? -1 : 1;
    return memcmp(a->name, b->name, a->name_size);
}

recmap_status recmap_kind_check_create(recmap_kind_check **check, recmap_error *error) {
    recmap_kind_check *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    *check = fresh;
    return RECMAP_OK;
}

void recmap_kind_check_destroy(recmap_kind_check *check) {
    if (!check) return;
    for (size_t i = 0; i < check->name_count; i++) {
        tdelete(check->names[i], &check->tree, compare_kinds);
        free(check->names[i]);
    }
    for (size_t i = 0; i < check->warning_count; i++) free(check->warnings[i]);
    free(check->names);
    free(check->order);
    free(check->features);
    free(check->warnings);
    free(check);
}

/* Returns true if a list has values, or is malformed. Numbers may be packed, also no numbers. */
static bool has_values(struct wire list, recmap_type kind, struct wire_trace *trace) {
    while (!wire_done(&list)) {
        uint32_t tag;
        struct wire packed;
        if (kind == RECMAP_TYPE_BYTES || !wire_read_tag(&tag, &list, trace) || tag != PACKED_TAG ||
            !wire_read_bytes(&packed, &list, trace) || !wire_done(&packed))
            return true;
    }
    return false;
}

/* Reads the kind of the values of a Feature message, NONE if it has no values: an empty list has no
 * kind, whatever kind its writer chose for it. A list of another kind than the one before replaces
 * it. */
static bool read_kind(recmap_type *kind, struct wire body, struct wire_trace *trace) {
    recmap_type last = RECMAP_TYPE_NONE;
    *kind = RECMAP_TYPE_NONE;
    while (!wire_done(&body)) {
        uint32_t tag;
        struct wire list;
        if (!wire_read_tag(&tag, &body, trace)) return false;
        recmap_type next = feature_kind_of_tag(tag);
        if (next == RECMAP_TYPE_NONE || !wire_read_bytes(&list, &body, trace)) return false;
        if (next != last) *kind = RECMAP_TYPE_NONE;
        last = next;
        if (has_values(list, next, trace)) *kind = next;
    }
    return true;
}

static bool read_steps(struct record_kind *feature, struct wire list, struct wire_trace *trace) {
    while (!wire_done(&list)) {
        uint32_t tag;
        struct wire body;
        recmap_type kind;
        if (!wire_read_tag(&tag, &list, trace) || tag != SEQUENCE_STEP_TAG ||
            !wire_read_bytes(&body, &list, trace) || !read_kind(&kind, body, trace))
            return false;
        if (kind == RECMAP_TYPE_NONE) continue;
        if (feature->kind == RECMAP_TYPE_NONE) feature->kind = kind;
        else if (feature->kind != kind) feature->last_kind = kind;
    }
    return true;
}

/* An entry of the map of features or of feature lists, whose tags are the same. */
static bool read_entry(struct record_kind *feature, struct wire entry, struct wire_trace *trace) {
    feature->name = entry.at;
    while (!wire_done(&entry)) {
        uint32_t tag;
        struct wire bytes;
        if (!wire_read_tag(&tag, &entry, trace)) return false;
        if (tag != SEQUENCE_KEY_TAG && tag != SEQUENCE_LIST_TAG) return false;
        if (!wire_read_bytes(&bytes, &entry, trace)) return false;
        if (tag == SEQUENCE_KEY_TAG) {
            feature->name = bytes.at;
            feature->name_size = wire_left(&bytes);
            continue;
        }
        bool is_read = feature->is_list ? read_steps(feature, bytes, trace)
                                        : read_kind(&feature->kind, bytes, trace);
        if (!is_read) return false;
    }
    return utf8_valid(feature->name, feature->name_size);
}

static bool read_map(recmap_kind_check *check, struct wire map, bool is_list,
                     struct wire_trace *trace) {
    while (!wire_done(&map)) {
        uint32_t tag;
        struct wire entry;
        struct record_kind feature = {.is_list = is_list};
        if (!wire_read_tag(&tag, &map, trace) || tag != SEQUENCE_ENTRY_TAG ||
            !wire_read_bytes(&entry, &map, trace) || !read_entry(&feature, entry, trace))
            return false;
        check->has_memory = array_reserve(&check->features, &check->feature_capacity,
                                          check->feature_count + 1, sizeof feature);
        if (!check->has_memory) return false;
        check->features[check->feature_count++] = feature;
    }
    return true;
}

/* Lists the features of the record. Returns false if it is not exactly an Example or
 * SequenceExample, or if memory runs out. */
static bool read_features(recmap_kind_check *check, const void *data, size_t size) {
    struct wire_trace trace = {.reason = NULL};
    static const uint8_t nothing[1];
    const uint8_t *start = data ? data : nothing;
    struct wire record = {start, start + size};
    check->feature_count = 0;
    check->has_memory = true;
    while (!wire_done(&record)) {
        uint32_t tag;
        struct wire map;
        if (!wire_read_tag(&tag, &record, &trace)) return false;
        if (tag != SEQUENCE_CONTEXT_TAG && tag != SEQUENCE_LISTS_TAG) return false;
        if (!wire_read_bytes(&map, &record, &trace) ||
            !read_map(check, map, tag == SEQUENCE_LISTS_TAG, &trace))
            return false;
    }
    return true;
}

/* Returns what is known of the name, which is new unless an earlier record has it. Returns NULL if
 * memory runs out, or if there are too many names. */
static struct known_kind *find_kind(recmap_kind_check *check, const struct record_kind *feature) {
    struct known_kind key = {
        .name = feature->name, .name_size = feature->name_size, .is_list = feature->is_list};
    struct known_kind *const *node = tfind(&key, &check->tree, compare_kinds);
    if (node) return *node;
    if (check->name_count == NAMES_MAX) return NULL;
    check->has_memory = array_reserve(&check->names, &check->name_capacity, check->name_count + 1,
                                      sizeof *check->names);
    struct known_kind *kind = check->has_memory ? malloc(sizeof *kind + key.name_size + 1) : NULL;
    check->has_memory = kind != NULL;
    if (!kind) return NULL;
    if (key.name_size) memcpy(kind + 1, key.name, key.name_size);
    key.name = (uint8_t *)(kind + 1);
    *kind = key;
    check->has_memory = tsearch(kind, &check->tree, compare_kinds) != NULL;
    if (!check->has_memory) {
        free(kind);
        return NULL;
    }
    check->names[check->name_count++] = kind;
    return kind;
}

static void advise(recmap_error *warning, recmap_type kind, recmap_type other) {
    bool is_text = kind == RECMAP_TYPE_BYTES || other == RECMAP_TYPE_BYTES;
    bool is_float = kind == RECMAP_TYPE_FLOAT || other == RECMAP_TYPE_FLOAT;
    if (!is_text) fail_advise(warning, "parsing needs one kind: write 3 as 3.0 if others are 3.5");
    else if (is_float)
        fail_advise(warning, "parsing needs one kind: leave out a missing value, which may be NaN");
    else fail_advise(warning, "parsing needs one kind: write all values as texts, or none");
}

/* Adds a warning, unless there are many already. */
static bool report(recmap_kind_check *check, struct known_kind *known, recmap_type kind) {
    known->is_reported = true;
    if (check->warning_count == WARNINGS_MAX) return true;
    if (!array_reserve(&check->warnings, &check->warning_capacity, check->warning_count + 1,
                       sizeof *check->warnings))
        return false;
    recmap_error *warning = malloc(sizeof *warning);
    if (!warning) return false;
    check->warnings[check->warning_count++] = warning;
    const char *what = known->is_list ? "feature list" : "feature";
    const char *now = recmap_type_name(kind), *before = recmap_type_name(known->kind);
    int size = known->name_size < SHOWN_MAX ? (int)known->name_size : SHOWN_MAX;
    const char *name = (const char *)known->name;
    if (known->record == check->record_count)
        fail(warning, RECMAP_FEATURE, "%s '%.*s' has steps of kind %s and of kind %s", what, size,
             name, before, now);
    else
        fail(warning, RECMAP_FEATURE, "%s '%.*s' has the kind %s, but %s in record %" PRIu64, what,
             size, name, now, before, known->record);
    fail_at(warning, NULL, check->record_count, RECMAP_NO_OFFSET);
    advise(warning, kind, known->kind);
    return true;
}

/* Compares a feature with what is known of its name. Returns false if memory runs out. */
static bool add_feature(recmap_kind_check *check, size_t i) {
    const struct record_kind *feature = &check->features[i];
    struct known_kind *known = i < check->order_count ? check->order[i] : NULL;
    /* Most writers put the features of all records in one order, so the name is searched for only
     * if it is not the one that was here in the last record. */
    bool is_expected = known && known->is_list == feature->is_list &&
                       known->name_size == feature->name_size &&
                       !memcmp(known->name, feature->name, feature->name_size);
    if (!is_expected) known = find_kind(check, feature);
    if (check->order_capacity <= i &&
        !array_reserve(&check->order, &check->order_capacity, i + 1, sizeof *check->order))
        return false;
    check->order[i] = known;
    if (i >= check->order_count) check->order_count = i + 1;
    if (!known) return check->has_memory;
    if (feature->kind == RECMAP_TYPE_NONE) return true;
    if (known->kind == RECMAP_TYPE_NONE) {
        known->kind = feature->kind;
        known->record = check->record_count;
    }
    recmap_type kind = feature->kind == known->kind ? feature->last_kind : feature->kind;
    if (kind == RECMAP_TYPE_NONE || known->is_reported) return true;
    return report(check, known, kind);
}

recmap_status recmap_kind_check_add(recmap_kind_check *check, const void *data, size_t size,
                                    recmap_error *error) {
    bool is_example = read_features(check, data, size);
    for (size_t i = 0; is_example && i < check->feature_count; i++)
        if (!add_feature(check, i)) return fail_memory(error);
    if (!check->has_memory) return fail_memory(error);
    check->record_count++;
    return RECMAP_OK;
}

const recmap_error *recmap_kind_check_warning(const recmap_kind_check *check, size_t index) {
    return index < check->warning_count ? check->warnings[index] : NULL;
}
