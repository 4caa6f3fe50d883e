#define _XOPEN_SOURCE 700
#include "dataset/doctor/feature_table.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "parse/example/names.h"

static int compare_features(const void *left, const void *right) {
    return feature_exam_compare(left, right);
}

static int compare_places(const void *left, const void *right) {
    return compare_features(*(struct feature_exam *const *)left,
                            *(struct feature_exam *const *)right);
}

static bool is_named(const struct feature_exam *feature, const uint8_t *name, size_t name_size,
                     bool is_list) {
    return feature->name_size == name_size && feature->is_list == is_list &&
           bytes_equal(feature->name, name, name_size);
}

void feature_table_begin(struct feature_table *table, uint64_t item) {
    struct seen_features before = table->seen;
    if (!table->record_count++) table->first_item = item;
    table->seen = table->before;
    table->before = before;
    table->seen.count = 0;
    table->cursor = 0;
    table->has_repeats = false;
}

/* The places of a name. If more names share them, one replaces another, so a bad choice of names
 * only makes the tree be used. */
static struct feature_exam **recent_places(struct feature_table *table, const uint8_t *name,
                                           size_t name_size, bool is_list) {
    return table->recent[(example_names_hash(name, name_size) + is_list) % RECENT_SIZE];
}

/* Changes nothing, so that several threads can look up at the same time. */
static struct feature_exam *find_in_tree(const struct feature_table *table, const uint8_t *name,
                                         size_t name_size, bool is_list) {
    struct feature_exam wanted = {
        .name = (const char *)name, .name_size = name_size, .is_list = is_list};
    struct feature_exam *const *node = tfind(&wanted, &table->tree, compare_features);
    return node ? *node : NULL;
}

struct feature_exam *feature_table_look_up(struct feature_table *table, const uint8_t *name,
                                           size_t name_size, bool is_list) {
    struct feature_exam **recent = recent_places(table, name, name_size, is_list);
    for (size_t i = 0; i < RECENT_PLACES && recent[i]; i++)
        if (is_named(recent[i], name, name_size, is_list)) return recent[i];
    struct feature_exam *feature = find_in_tree(table, name, name_size, is_list);
    if (!feature) return NULL;
    memmove(recent + 1, recent, (RECENT_PLACES - 1) * sizeof *recent);
    recent[0] = feature;
    return feature;
}

/* Records mostly have the same features in the same order. If the previous record has the feature
 * elsewhere, those that follow it there are expected next. */
static struct feature_exam *find_expected(struct feature_table *table, const uint8_t *name,
                                          size_t name_size, bool is_list) {
    const struct seen_features *before = &table->before;
    if (table->cursor < before->count &&
        is_named(before->features[table->cursor], name, name_size, is_list))
        return before->features[table->cursor++];
    struct feature_exam *feature = feature_table_look_up(table, name, name_size, is_list);
    if (feature && feature->seen + 1 == table->record_count) table->cursor = feature->place + 1;
    return feature;
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
    struct feature_exam *feature = feature_exam_create(name, name_size, is_list);
    if (!feature) return fail_memory(error);
    if (!tsearch(feature, &table->tree, compare_features)) {
        free(feature);
        return fail_memory(error);
    }
    if (table->earlier)
        feature_exam_continue(feature, find_in_tree(table->earlier, name, name_size, is_list));
    if (table->record_count > 1) feature->lacking = (struct occurrence){1, table->first_item};
    link_newest(table, feature);
    table->features[table->count++] = feature;
    *out = feature;
    return RECMAP_OK;
}

recmap_status feature_table_find(struct feature_exam **feature, struct feature_table *table,
                                 const uint8_t *name, size_t name_size, bool is_list,
                                 recmap_error *error) {
    struct seen_features *seen = &table->seen;
    *feature = find_expected(table, name, name_size, is_list);
    if (!*feature && table->count == (table->limit ? table->limit : FEATURES_MAX)) {
        table->is_full = true;
        return RECMAP_OK;
    }
    if (!*feature) RETURN_IF_FAILED(add(feature, table, name, name_size, is_list, error));
    if ((*feature)->seen == table->record_count) {
        table->has_repeats = true;
        return RECMAP_OK;
    }
    if (seen->count == seen->capacity &&
        !array_reserve(&seen->features, &seen->capacity, seen->count + 1, sizeof *seen->features))
        return fail_memory(error);
    (*feature)->seen = table->record_count;
    (*feature)->place = seen->count;
    seen->features[seen->count++] = *feature;
    return RECMAP_OK;
}

/* The list of all features has those that were seen last first. So after the features of this
 * record come those that the previous record had and this one lacks, and looking no further costs
 * no more than the features of the two records. If all were seen, their order does not matter. */
void feature_table_end(struct feature_table *table, uint64_t item) {
    if (table->seen.count == table->count) return;
    for (size_t i = 0; i < table->seen.count; i++) {
        unlink_feature(table, table->seen.features[i]);
        link_newest(table, table->seen.features[i]);
    }
    struct feature_exam *feature = table->newest;
    while (feature && feature->seen == table->record_count) feature = feature->older;
    for (; feature && feature->seen + 1 == table->record_count; feature = feature->older)
        if (!feature->lacking.count) feature->lacking = (struct occurrence){1, item};
}

/* ---- Later records. */

bool feature_table_is_complete(const struct feature_table *table) {
    for (size_t i = 0; i < table->count; i++)
        if (!feature_exam_is_complete(table->features[i])) return false;
    return !table->is_full;
}

/* Adds one feature. `record_count` is of the table without the later records: if it has records, a
 * feature that is new is lacking in its first one. */
static recmap_status merge_feature(struct feature_table *table, uint64_t record_count,
                                   const struct feature_exam *later, recmap_error *error) {
    const uint8_t *name = (const uint8_t *)later->name;
    struct feature_exam *feature =
        feature_table_look_up(table, name, later->name_size, later->is_list);
    if (!feature)
        RETURN_IF_FAILED(add(&feature, table, name, later->name_size, later->is_list, error));
    if (!feature->records.count)
        feature->lacking = record_count ? (struct occurrence){1, table->first_item}
                                        : later->lacking;
    else if (!feature->lacking.count) feature->lacking = later->lacking;
    feature_exam_merge(feature, later);
    feature->seen = record_count + later->seen;
    return RECMAP_OK;
}

/* Makes the features of the later records the newest, in their order. Then, as at the end of a
 * record, those follow that the record before had: the first of the later records lacks them. */
static void link_later(struct feature_table *table, uint64_t record_count,
                       const struct feature_table *later) {
    const struct feature_exam *oldest = later->newest;
    while (oldest && oldest->older) oldest = oldest->older;
    for (; oldest; oldest = oldest->newer) {
        struct feature_exam *feature = feature_table_look_up(table, (const uint8_t *)oldest->name,
                                                             oldest->name_size, oldest->is_list);
        unlink_feature(table, feature);
        link_newest(table, feature);
    }
    struct feature_exam *feature = table->newest;
    while (feature && feature->seen > record_count) feature = feature->older;
    for (; feature && feature->seen == record_count; feature = feature->older)
        if (!feature->lacking.count) feature->lacking = (struct occurrence){1, later->first_item};
}

recmap_status feature_table_merge(struct feature_table *table, const struct feature_table *later,
                                  recmap_error *error) {
    uint64_t record_count = table->record_count;
    if (!later->record_count) return RECMAP_OK;
    if (!record_count) table->first_item = later->first_item;
    for (size_t i = 0; i < later->count; i++)
        RETURN_IF_FAILED(merge_feature(table, record_count, later->features[i], error));
    link_later(table, record_count, later);
    table->record_count += later->record_count;
    table->seen.count = 0;
    return RECMAP_OK;
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
        free(table->features[i]);
    }
    free(table->features);
    free(table->seen.features);
    free(table->before.features);
    *table = (struct feature_table){0};
}
