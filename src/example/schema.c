/* A schema: which features the records hold, of which kinds and lengths. */
#define _XOPEN_SOURCE 700
#include <recmap/example.h>

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "example/example.h"

typedef struct feature_stats {
    const char *name; /* NUL-terminated; may hold NULs before that */
    size_t name_size;
    uint64_t held_count; /* records that hold it with a kind */
    uint64_t min_length; /* values, over those records */
    uint64_t max_length;
    unsigned kinds; /* bit 1 << recmap_type of each kind seen */
} feature_stats;

/* All features, sorted when they are looked at. */
typedef struct stats_list {
    feature_stats **items;
    size_t count;
    size_t capacity;
    bool is_sorted;
} stats_list;

struct recmap_schema {
    uint64_t record_count;
    uint64_t other_count; /* records that are no Example */
    void *tree;           /* of tsearch: balanced, so that no set of names can make it slow */
    stats_list *list;
    example_features features; /* of the record being added */
};

static int compare_stats(const void *left, const void *right) {
    const feature_stats *a = left, *b = right;
    size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, size);
    if (order) return order;
    return (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

static int compare_items(const void *left, const void *right) {
    return compare_stats(*(feature_stats *const *)left, *(feature_stats *const *)right);
}

recmap_status recmap_schema_create(recmap_schema **schema, recmap_error *error) {
    recmap_schema *made = calloc(1, sizeof *made);
    stats_list *list = calloc(1, sizeof *list);
    if (!made || !list) {
        free(made);
        free(list);
        return fail_memory(error);
    }
    made->list = list;
    *schema = made;
    return RECMAP_OK;
}

void recmap_schema_destroy(recmap_schema *schema) {
    if (!schema) return;
    for (size_t i = 0; i < schema->list->count; i++) {
        tdelete(schema->list->items[i], &schema->tree, compare_stats);
        free(schema->list->items[i]);
    }
    free(schema->list->items);
    free(schema->list);
    example_features_free(&schema->features);
    free(schema);
}

static feature_stats *stats_create(const example_entry *entry) {
    feature_stats *stats = malloc(sizeof *stats + entry->name_size + 1);
    if (!stats) return NULL;
    char *name = (char *)(stats + 1);
    memcpy(name, entry->name, entry->name_size);
    name[entry->name_size] = 0;
    *stats = (feature_stats){.name = name, .name_size = entry->name_size};
    return stats;
}

/* The entry's statistics, made when the name is new. NULL when memory is out. */
static feature_stats *find_stats(recmap_schema *schema, const example_entry *entry) {
    feature_stats key = {.name = (const char *)entry->name, .name_size = entry->name_size};
    feature_stats *const *node = tfind(&key, &schema->tree, compare_stats);
    if (node) return *node;
    stats_list *list = schema->list;
    if (!array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return NULL;
    feature_stats *made = stats_create(entry);
    if (!made) return NULL;
    if (!tsearch(made, &schema->tree, compare_stats)) {
        free(made);
        return NULL;
    }
    list->items[list->count++] = made;
    list->is_sorted = false;
    return made;
}

static void stats_add(feature_stats *stats, const example_feature *feature) {
    if (feature->kind == RECMAP_TYPE_NONE) return;
    stats->kinds |= 1u << feature->kind;
    if (stats->held_count == 0 || feature->count < stats->min_length)
        stats->min_length = feature->count;
    if (feature->count > stats->max_length) stats->max_length = feature->count;
    stats->held_count++;
}

recmap_status recmap_schema_add(recmap_schema *schema, const void *data, size_t size,
                                recmap_error *error) {
    recmap_status status = example_features_read(&schema->features, data, size, NULL);
    if (status == RECMAP_NO_MEMORY) return fail_memory(error);
    /* All names first: a record is counted whole or, when memory is out, not at all. */
    for (size_t i = 0; i < schema->features.count; i++)
        if (!find_stats(schema, &schema->features.entries[i])) return fail_memory(error);
    for (size_t i = 0; i < schema->features.count; i++) {
        const example_entry *entry = &schema->features.entries[i];
        stats_add(find_stats(schema, entry), &entry->feature);
    }
    schema->record_count++;
    if (status != RECMAP_OK || schema->features.saw_unknown) schema->other_count++;
    return RECMAP_OK;
}

static const char *kind_name(unsigned kinds) {
    switch (kinds) {
    case 0: return "unset";
    case 1u << RECMAP_TYPE_INT64: return "int64";
    case 1u << RECMAP_TYPE_FLOAT: return "float";
    case 1u << RECMAP_TYPE_BYTES: return "bytes";
    default: return "mixed";
    }
}

size_t recmap_schema_feature_count(const recmap_schema *schema) {
    return schema->list->count;
}

recmap_schema_feature recmap_schema_get_feature(const recmap_schema *schema, size_t feature_index) {
    stats_list *list = schema->list;
    if (!list->is_sorted) {
        qsort(list->items, list->count, sizeof *list->items, compare_items);
        list->is_sorted = true;
    }
    const feature_stats *stats = list->items[feature_index];
    return (recmap_schema_feature){
        .name = stats->name,
        .name_size = stats->name_size,
        .kind = kind_name(stats->kinds),
        .share = (double)stats->held_count / (double)schema->record_count,
        .min_length = stats->min_length,
        .max_length = stats->max_length,
    };
}

static void put_feature(json_writer *json, const recmap_schema_feature *feature) {
    json_key_sized(json, feature->name, feature->name_size);
    json_open(json, '{');
    json_key(json, "kind");
    json_text(json, feature->kind);
    json_key(json, "share");
    json_double(json, feature->share);
    json_key(json, "min_length");
    json_uint64(json, feature->min_length);
    json_key(json, "max_length");
    json_uint64(json, feature->max_length);
    json_close(json, '}');
}

uint64_t recmap_schema_record_count(const recmap_schema *schema) {
    return schema->record_count;
}

uint64_t recmap_schema_other_count(const recmap_schema *schema) {
    return schema->other_count;
}

recmap_status recmap_schema_to_json(recmap_text *text, const recmap_schema *schema,
                                    recmap_error *error) {
    size_t start = text->size;
    json_writer json = json_begin(text);
    json_open(&json, '{');
    for (size_t i = 0; i < recmap_schema_feature_count(schema); i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        put_feature(&json, &feature);
    }
    json_close(&json, '}');
    if (!json.failed) return RECMAP_OK;
    text->size = start;
    if (text->data) text->data[start] = 0;
    return fail_memory(error);
}
