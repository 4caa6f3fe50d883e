#define _XOPEN_SOURCE 700
#include "dataset/doctor/feature_table.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"

/* The statistics come first, for the tree's comparison. */
static int compare_features(const void *left, const void *right) {
    const struct feature_exam *a = left, *b = right;
    return feature_stats_compare(a->stats, b->stats);
}

static int compare_places(const void *left, const void *right) {
    return compare_features(*(struct feature_exam *const *)left,
                            *(struct feature_exam *const *)right);
}

static bool is_named(const struct feature_exam *feature, const uint8_t *name, size_t name_size,
                     bool is_list) {
    const struct feature_stats *stats = feature->stats;
    return stats->name_size == name_size && stats->is_list == is_list &&
           (!name_size || !memcmp(stats->name, name, name_size));
}

void feature_table_begin(struct feature_table *table, uint64_t item) {
    if (!table->record_count++) table->first_item = item;
    table->cursor = 0;
    table->seen_count = 0;
}

/* Records mostly have the same features in the same order. */
struct feature_exam *feature_table_look_up(struct feature_table *table, const uint8_t *name,
                                           size_t name_size, bool is_list) {
    if (table->cursor < table->count &&
        is_named(table->features[table->cursor], name, name_size, is_list))
        return table->features[table->cursor++];
    struct feature_stats key = {
        .name = (const char *)name, .name_size = name_size, .is_list = is_list};
    struct feature_exam wanted = {.stats = &key};
    struct feature_exam *const *node = tfind(&wanted, &table->tree, compare_features);
    return node ? *node : NULL;
}

static struct feature_exam *create(const uint8_t *name, size_t name_size, bool is_list) {
    struct feature_exam *feature = calloc(1, sizeof *feature);
    if (!feature) return NULL;
    feature->stats = feature_stats_create(name, name_size, is_list);
    if (feature->stats) return feature;
    free(feature);
    return NULL;
}

static void destroy(struct feature_exam *feature) {
    free(feature->stats);
    free(feature);
}

static void link_newest(struct feature_table *table, struct feature_exam *feature) {
    feature->older = table->newest;
    feature->newer = NULL;
    if (table->newest) table->newest->newer = feature;
    table->newest = feature;
}

static void unlink_feature(struct feature_table *table, struct feature_exam *feature) {
    if (feature->newer) feature->newer->older = feature->older;
    else table->newest = feature->older;
    if (feature->older) feature->older->newer = feature->newer;
}

static recmap_status add(struct feature_exam **out, struct feature_table *table,
                         const uint8_t *name, size_t name_size, bool is_list, recmap_error *error) {
    if (!array_reserve(&table->features, &table->capacity, table->count + 1,
                       sizeof *table->features))
        return fail_memory(error);
    struct feature_exam *feature = create(name, name_size, is_list);
    if (!feature) return fail_memory(error);
    if (!tsearch(feature, &table->tree, compare_features)) {
        destroy(feature);
        return fail_memory(error);
    }
    if (table->record_count > 1) feature->lacking = (struct occurrence){1, table->first_item};
    link_newest(table, feature);
    table->features[table->count++] = feature;
    table->cursor = table->count;
    *out = feature;
    return RECMAP_OK;
}

recmap_status feature_table_find(struct feature_exam **feature, struct feature_table *table,
                                 const uint8_t *name, size_t name_size, bool is_list,
                                 recmap_error *error) {
    *feature = feature_table_look_up(table, name, name_size, is_list);
    if (!*feature && table->count == FEATURES_MAX) {
        table->is_full = true;
        return RECMAP_OK;
    }
    if (!*feature) RETURN_IF_FAILED(add(feature, table, name, name_size, is_list, error));
    if (!array_reserve(&table->seen, &table->seen_capacity, table->seen_count + 1,
                       sizeof *table->seen))
        return fail_memory(error);
    (*feature)->seen = table->record_count;
    table->seen[table->seen_count++] = *feature;
    return RECMAP_OK;
}

/* The list of all features has those that were seen last first. So after the features of this
 * record come those that the previous record had and this one lacks, and looking no further costs
 * no more than the features of the two records. If all were seen, their order does not matter. */
void feature_table_end(struct feature_table *table, uint64_t item) {
    if (table->seen_count == table->count) return;
    for (size_t i = 0; i < table->seen_count; i++) {
        unlink_feature(table, table->seen[i]);
        link_newest(table, table->seen[i]);
    }
    struct feature_exam *feature = table->newest;
    while (feature && feature->seen == table->record_count) feature = feature->older;
    for (; feature && feature->seen + 1 == table->record_count; feature = feature->older)
        if (!feature->lacking.count) feature->lacking = (struct occurrence){1, item};
}

void feature_table_finish(struct feature_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        struct feature_exam *feature = table->features[i];
        feature->lacking.count = table->record_count - feature->records.count;
    }
    if (table->count) qsort(table->features, table->count, sizeof *table->features, compare_places);
}

void feature_table_deinit(struct feature_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        tdelete(table->features[i], &table->tree, compare_features);
        destroy(table->features[i]);
    }
    free(table->features);
    free(table->seen);
    *table = (struct feature_table){0};
}
