/* A schema: the features of the records with their kinds, lengths and values. */
#define _XOPEN_SOURCE 700
#include <recmap/example.h>

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "parse/example/feature_stats.h"
#include "parse/example/record_parts.h"
#include "parse/example/schema.h"

/* All features, sorted on demand. */
struct stats_list {
    struct feature_stats **items;
    size_t count;
    size_t capacity;
    bool is_sorted;
};

struct recmap_schema {
    uint64_t record_count;
    uint64_t sequence_count;
    uint64_t other_count; /* records that are neither an Example nor a SequenceExample */
    void *tree; /* of tsearch, a balanced tree, so that no choice of names makes it slow */
    struct stats_list *list;
    struct record_parts parts; /* of the record being added */
};

static int compare_stats(const void *left, const void *right) {
    return feature_stats_compare(left, right);
}

static int compare_items(const void *left, const void *right) {
    return feature_stats_compare(*(struct feature_stats *const *)left,
                                 *(struct feature_stats *const *)right);
}

recmap_status recmap_schema_create(recmap_schema **schema, recmap_error *error) {
    recmap_schema *fresh = calloc(1, sizeof *fresh);
    struct stats_list *list = calloc(1, sizeof *list);
    if (!fresh || !list) {
        free(fresh);
        free(list);
        return fail_memory(error);
    }
    fresh->list = list;
    *schema = fresh;
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
    record_parts_deinit(&schema->parts);
    free(schema);
}

/* Returns the statistics of a name, creating them if it is new. Returns NULL if memory runs out. */
static struct feature_stats *find_stats(recmap_schema *schema, const uint8_t *name,
                                        size_t name_size, bool is_list) {
    struct feature_stats key = {
        .name = (const char *)name, .name_size = name_size, .is_list = is_list};
    struct feature_stats *const *node = tfind(&key, &schema->tree, compare_stats);
    if (node) return *node;
    struct stats_list *list = schema->list;
    if (!array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return NULL;
    struct feature_stats *stats = feature_stats_create(name, name_size, is_list);
    if (!stats) return NULL;
    if (!tsearch(stats, &schema->tree, compare_stats)) {
        free(stats);
        return NULL;
    }
    list->items[list->count++] = stats;
    list->is_sorted = false;
    return stats;
}

/* Adds the features of an Example or, if `sequence` is not NULL, its context and lists. All names
 * are added first, so that a record is counted completely or, if memory runs out, not at all. */
static recmap_status add_features(recmap_schema *schema, const struct example_features *features,
                                  const struct sequence_features *sequence, recmap_error *error) {
    size_t list_count = sequence ? sequence->list_count : 0;
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        if (!find_stats(schema, entry->name, entry->name_size, false)) return fail_memory(error);
    }
    for (size_t i = 0; i < list_count; i++) {
        const struct sequence_list *list = &sequence->lists[i];
        if (!find_stats(schema, list->name, list->name_size, true)) return fail_memory(error);
    }
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        feature_stats_add(find_stats(schema, entry->name, entry->name_size, false),
                          &entry->feature);
    }
    for (size_t i = 0; i < list_count; i++) {
        const struct sequence_list *list = &sequence->lists[i];
        feature_stats_add_list(find_stats(schema, list->name, list->name_size, true),
                               sequence_steps(sequence, list), list->step_count);
    }
    return RECMAP_OK;
}

recmap_status recmap_schema_add(recmap_schema *schema, const void *data, size_t size,
                                recmap_error *error) {
    const struct record_parts *parts = &schema->parts;
    RETURN_IF_FAILED(record_parts_read(&schema->parts, data, size, error));
    RETURN_IF_FAILED(add_features(schema, record_parts_features(parts),
                                  parts->is_sequence ? &parts->sequence : NULL, error));
    schema->record_count++;
    schema->sequence_count += parts->is_sequence;
    schema->other_count += parts->is_other;
    return RECMAP_OK;
}

struct feature_stats *schema_text_feature(recmap_schema *schema, const char *name, size_t size) {
    struct feature_stats *stats = find_stats(schema, (const uint8_t *)name, size, false);
    if (stats) stats->text.is_used = true;
    return stats;
}

void schema_end_text(recmap_schema *schema) {
    for (size_t i = 0; i < schema->list->count; i++) text_stats_end_record(schema->list->items[i]);
    schema->record_count++;
}

size_t recmap_schema_feature_count(const recmap_schema *schema) {
    return schema->list->count;
}

recmap_schema_feature recmap_schema_get_feature(const recmap_schema *schema, size_t feature_index) {
    struct stats_list *list = schema->list;
    if (!list->is_sorted) {
        qsort(list->items, list->count, sizeof *list->items, compare_items);
        list->is_sorted = true;
    }
    return feature_stats_describe(list->items[feature_index], schema->record_count);
}

uint64_t recmap_schema_record_count(const recmap_schema *schema) {
    return schema->record_count;
}

uint64_t recmap_schema_sequence_count(const recmap_schema *schema) {
    return schema->sequence_count;
}

uint64_t recmap_schema_other_count(const recmap_schema *schema) {
    return schema->other_count;
}
