#include "parse/example/example.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"

bool example_lookup(struct example_feature *feature, const struct example_names *names,
                    const uint8_t *data, size_t size, struct example_fault *fault) {
    size_t name_count = example_names_count(names);
    for (size_t i = 0; i < name_count; i++) feature[i] = (struct example_feature){0};
    struct example_reader reader = example_reader_begin(data, size);
    struct example_entry entry;
    while (example_reader_next(&entry, &reader)) {
        size_t index = example_names_find(names, entry.name, entry.name_size);
        if (index != SIZE_MAX) feature[index] = entry.feature;
    }
    if (!example_reader_end(&reader, fault)) return false;
    if (example_names_repeat(names))
        for (size_t i = 0; i < name_count; i++) feature[i] = feature[example_names_first(names, i)];
    return true;
}

static int compare_names(const struct example_entry *a, const struct example_entry *b) {
    size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, size);
    if (order) return order;
    return (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

/* Entries with the same name keep their order in the record. */
static int compare_entries(const void *left, const void *right) {
    const struct example_entry *a = left, *b = right;
    int order = compare_names(a, b);
    if (order) return order;
    return (a->feature.entry.at > b->feature.entry.at) -
           (a->feature.entry.at < b->feature.entry.at);
}

static void keep_last(struct example_features *features) {
    size_t kept_count = 0;
    for (size_t i = 0; i < features->count; i++) {
        bool is_last = i + 1 == features->count ||
                       compare_names(&features->entries[i], &features->entries[i + 1]) != 0;
        if (is_last) features->entries[kept_count++] = features->entries[i];
    }
    features->count = kept_count;
}

bool example_features_take(struct example_features *features, struct example_reader *reader) {
    for (;; features->count++) {
        if (features->count == features->capacity &&
            !array_reserve(&features->entries, &features->capacity, features->count + 1,
                           sizeof *features->entries))
            return false;
        if (!example_reader_next(&features->entries[features->count], reader)) return true;
    }
}

/* Returns true if the names ascend, so that each is there once. Many writers sort them. */
static bool are_sorted(const struct example_features *features) {
    for (size_t i = 1; i < features->count; i++)
        if (compare_names(&features->entries[i - 1], &features->entries[i]) >= 0) return false;
    return true;
}

void example_features_settle(struct example_features *features) {
    if (are_sorted(features)) return;
    qsort(features->entries, features->count, sizeof *features->entries, compare_entries);
    keep_last(features);
}

recmap_status example_features_read_stored(struct example_features *features, const uint8_t *data,
                                           size_t size, struct example_fault *fault) {
    struct example_reader reader = example_reader_begin(data, size);
    features->count = 0;
    bool has_memory = example_features_take(features, &reader);
    if (!has_memory || !example_reader_end(&reader, fault)) {
        features->count = 0;
        return has_memory ? RECMAP_CORRUPT : RECMAP_NO_MEMORY;
    }
    features->has_features = reader.has_features;
    features->saw_unknown = reader.trace.saw_unknown;
    return RECMAP_OK;
}

recmap_status example_features_read(struct example_features *features, const uint8_t *data,
                                    size_t size, struct example_fault *fault) {
    recmap_status status = example_features_read_stored(features, data, size, fault);
    if (status == RECMAP_OK) example_features_settle(features);
    return status;
}

void example_features_deinit(struct example_features *features) {
    free(features->entries);
    *features = (struct example_features)EXAMPLE_FEATURES_INIT;
}
