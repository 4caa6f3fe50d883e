/* Element counts of a data set: copied from the index into memory, still packed. A concatenation
 * has the counts that all its parts have. */
#include <inttypes.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "dataset/open/concat.h"
#include "order/counts/counts.h"

/* Finds a counted feature of an index by name. */
static bool find_in_index(size_t *feature_index, const recmap_dataset *dataset, const char *name) {
    const struct manifest *manifest = index_manifest(dataset->index);
    for (size_t i = 0; i < manifest->counted_feature_count; i++) {
        if (strcmp(manifest->counted_features[i].name, name)) continue;
        *feature_index = i;
        return true;
    }
    return false;
}

/* Returns true if all parts count the elements of the feature, in the same way. */
static bool parts_count(const recmap_dataset *dataset, const struct manifest_counted *feature) {
    for (size_t i = 0; i < dataset->part_count; i++) {
        const recmap_dataset *part = dataset->parts[i].dataset;
        size_t feature_index;
        if (!find_in_index(&feature_index, part, feature->name) ||
            index_manifest(part->index)->counted_features[feature_index].element !=
                feature->element)
            return false;
    }
    return true;
}

/* The counted feature `feature_index` of a concatenation, or NULL after the last one. */
static const struct manifest_counted *counted_by_parts(const recmap_dataset *dataset,
                                                       size_t feature_index) {
    const struct manifest *first = index_manifest(dataset->parts->dataset->index);
    for (size_t i = 0; i < first->counted_feature_count; i++)
        if (parts_count(dataset, &first->counted_features[i]) && !feature_index--)
            return &first->counted_features[i];
    return NULL;
}

size_t concat_counted_feature_count(const recmap_dataset *dataset) {
    size_t count = 0;
    while (counted_by_parts(dataset, count)) count++;
    return count;
}

recmap_status recmap_dataset_get_counted_feature(recmap_counted_feature *feature,
                                                 const recmap_dataset *dataset,
                                                 size_t feature_index, recmap_error *error) {
    size_t count = dataset->info.counted_feature_count;
    if (feature_index >= count)
        return fail(error, RECMAP_INVALID,
                    "counted feature %zu is out of range: the data set has %zu", feature_index,
                    count);
    const struct manifest_counted *counted =
        dataset->part_count ? counted_by_parts(dataset, feature_index)
                            : &index_manifest(dataset->index)->counted_features[feature_index];
    *feature = (recmap_counted_feature){counted->name, counted->element};
    return RECMAP_OK;
}

static recmap_status find_feature(const recmap_dataset *dataset, const char *name,
                                  recmap_error *error) {
    for (size_t i = 0; i < dataset->info.counted_feature_count; i++) {
        recmap_counted_feature feature;
        RETURN_IF_FAILED(recmap_dataset_get_counted_feature(&feature, dataset, i, error));
        if (!strcmp(feature.name, name)) return RECMAP_OK;
    }
    fail(error, RECMAP_NO_COLUMN, "the index has no element counts of feature \"%s\"", name);
    fail_file(error, dataset_path(dataset));
    dataset_advise_rebuild(error, dataset, (struct rebuild_option){"--count", name},
                           "build it with ");
    return RECMAP_NO_COLUMN;
}

/* What counts are read from. */
struct count_source {
    const recmap_dataset *dataset;
    const char *name;
};

static recmap_status read_from_index(uint64_t *values, const recmap_dataset *dataset,
                                     const char *name, uint64_t first, size_t count,
                                     recmap_error *error) {
    size_t feature_index = 0;
    find_in_index(&feature_index, dataset, name);
    return index_read_counts(values, dataset->index, feature_index, first, count, error);
}

/* Reads the range from the parts that it overlaps. */
static recmap_status read_counts(void *context, uint64_t *values, uint64_t first, size_t count,
                                 recmap_error *error) {
    const struct count_source *source = context;
    const recmap_dataset *dataset = source->dataset;
    if (!dataset->part_count)
        return read_from_index(values, dataset, source->name, first, count, error);
    for (size_t done = 0; done < count;) {
        const struct dataset_part *part = concat_part_of_record(dataset, first + done);
        size_t here = (size_t)min_u64(concat_part_end(part) - (first + done), count - done);
        RETURN_IF_FAILED(read_from_index(values + done, part->dataset, source->name,
                                         first + done - part->first_record, here, error));
        done += here;
    }
    return RECMAP_OK;
}

/* Each count has been checked by the index, so that only their sum can be too large. */
recmap_status recmap_dataset_read_counts(recmap_counts **counts, recmap_dataset *dataset,
                                         const char *name, recmap_error *error) {
    struct count_source source = {dataset, name};
    RETURN_IF_FAILED(find_feature(dataset, name, error));
    struct counts_reader reader = {&source, read_counts};
    recmap_status status = counts_pack(counts, &reader, dataset->info.record_count, error);
    if (status != RECMAP_INVALID) return status;
    fail(error, RECMAP_CORRUPT, "the element counts of feature \"%s\" add up to more than 2^62",
         name);
    fail_file(error, dataset_path(dataset));
    dataset_advise_rebuild(error, dataset, (struct rebuild_option){NULL, NULL},
                           "build the index again with ");
    return RECMAP_CORRUPT;
}
