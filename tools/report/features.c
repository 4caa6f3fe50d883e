#include "report/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/table.h>

#include "terminal/message.h"

enum { FEATURES_MAX = 256, VALUES_OF_RECORD_MAX = 8 };

recmap_status record_features_init(struct record_features *features, const recmap_dataset *dataset,
                                   recmap_error *error) {
    *features = (struct record_features){.dataset = dataset,
                                         .items = calloc(FEATURES_MAX, sizeof *features->items)};
    if (!features->items) return message_fail_memory(error);
    return recmap_schema_create(&features->schema, error);
}

void record_features_deinit(struct record_features *features) {
    for (size_t i = 0; i < features->count; i++) {
        free(features->items[i].name);
        value_sample_deinit(&features->items[i].counts);
        value_sample_deinit(&features->items[i].values);
    }
    free(features->items);
    recmap_schema_destroy(features->schema);
}

static bool is_named(const struct feature_values *item, const char *name, size_t size,
                     bool is_list) {
    return item->name_size == size && item->is_list == is_list &&
           (!size || !memcmp(item->name, name, size));
}

/* Records mostly have the same features in the same order, so the search begins after the feature
 * that was found last. */
static struct feature_values *find(struct record_features *features, const char *name, size_t size,
                                   bool is_list) {
    for (size_t i = 0; i < features->count; i++) {
        size_t place = (features->cursor + i) % features->count;
        if (!is_named(&features->items[place], name, size, is_list)) continue;
        features->cursor = place + 1;
        return &features->items[place];
    }
    return NULL;
}

struct feature_values *record_features_find(struct record_features *features,
                                            const recmap_schema_feature *feature) {
    return find(features, feature->name, feature->name_size, feature->is_list != 0);
}

static struct feature_values *find_or_add(struct record_features *features,
                                          const recmap_example_part *part, bool *is_full) {
    bool is_list = part->kind != RECMAP_EXAMPLE_PART_FEATURE;
    struct feature_values *item = find(features, part->name, part->name_size, is_list);
    *is_full = !item && features->count == FEATURES_MAX;
    if (item || *is_full) return item;
    char *name = malloc(part->name_size + 1);
    if (!name) return NULL;
    if (part->name_size) memcpy(name, part->name, part->name_size);
    item = &features->items[features->count++];
    *item = (struct feature_values){.name = name, .name_size = part->name_size, .is_list = is_list};
    return item;
}

/* Returns false for values that are not kept: long bytes, and NaN, which cannot be sorted. */
static bool take_value(struct sampled_value *value, const recmap_example_part *part, size_t index) {
    *value = (struct sampled_value){.type = part->type};
    if (part->type == RECMAP_TYPE_INT64) value->as.int64 = part->int64s[index];
    if (part->type == RECMAP_TYPE_FLOAT) value->as.number = part->floats[index];
    if (part->type == RECMAP_TYPE_FLOAT) return !isnan(part->floats[index]);
    if (part->type != RECMAP_TYPE_BYTES) return true;
    const recmap_bytes *bytes = &part->bytes[index];
    if (bytes->size > SHORT_VALUE_MAX) return false;
    if (bytes->size) memcpy(value->as.bytes, bytes->data, bytes->size);
    value->size = (unsigned)bytes->size;
    return true;
}

static bool add_values(struct feature_values *item, const recmap_example_part *part) {
    size_t kept = part->count < VALUES_OF_RECORD_MAX ? part->count : VALUES_OF_RECORD_MAX;
    for (size_t i = 0; i < kept; i++) {
        struct sampled_value value;
        size_t index = kept == part->count ? i : i * (part->count / kept);
        if (take_value(&value, part, index) && !value_sample_add(&item->values, &value))
            return false;
    }
    return true;
}

struct visit {
    struct record_features *features;
    recmap_error *error;
};

static recmap_status visit_part(const recmap_example_part *part, void *context) {
    struct visit *visit = context;
    bool is_full;
    struct feature_values *item = find_or_add(visit->features, part, &is_full);
    if (is_full) return RECMAP_OK;
    if (!item) return message_fail_memory(visit->error);
    bool has_count = part->kind == RECMAP_EXAMPLE_PART_LIST ||
                     (part->kind == RECMAP_EXAMPLE_PART_FEATURE && part->type != RECMAP_TYPE_NONE);
    struct sampled_value count = {RECMAP_TYPE_INT64, 0, {.int64 = (int64_t)part->count}};
    bool is_added = !has_count || value_sample_add(&item->counts, &count);
    if (is_added && part->kind != RECMAP_EXAMPLE_PART_LIST && part->type != RECMAP_TYPE_NONE)
        is_added = add_values(item, part);
    return is_added ? RECMAP_OK : message_fail_memory(visit->error);
}

recmap_status record_features_add(struct record_features *features, const recmap_record *record,
                                  recmap_error *error) {
    recmap_error found = RECMAP_ERROR_INIT;
    struct visit visit = {features, &found};
    RETURN_IF_FAILED(recmap_schema_add_record(features->schema, features->dataset, record, error));
    recmap_status status =
        recmap_dataset_visit(visit_part, &visit, features->dataset, record, &found);
    return status == RECMAP_NO_MEMORY ? message_fail_memory(error) : RECMAP_OK;
}
