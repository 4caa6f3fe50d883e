/* Element counts of a data set: copied from the index into memory, still packed. */
#include <string.h>

#include "base/error.h"
#include "counts/counts.h"
#include "dataset/dataset.h"

recmap_status recmap_dataset_get_counted_feature(recmap_counted_feature *feature,
                                                 const recmap_dataset *dataset,
                                                 size_t feature_index, recmap_error *error) {
    const struct manifest *manifest = index_manifest(dataset->index);
    if (feature_index >= manifest->counted_feature_count)
        return fail(error, RECMAP_INVALID,
                    "counted feature %zu is out of range: the data set has %zu", feature_index,
                    manifest->counted_feature_count);
    const struct manifest_counted *counted = &manifest->counted_features[feature_index];
    *feature = (recmap_counted_feature){counted->name, counted->element};
    return RECMAP_OK;
}

static recmap_status find_feature(size_t *feature_index, const recmap_dataset *dataset,
                                  const char *name, recmap_error *error) {
    const struct manifest *manifest = index_manifest(dataset->index);
    for (size_t i = 0; i < manifest->counted_feature_count; i++) {
        if (strcmp(manifest->counted_features[i].name, name)) continue;
        *feature_index = i;
        return RECMAP_OK;
    }
    fail(error, RECMAP_NOT_FOUND, "the index has no element counts of feature \"%s\"", name);
    fail_file(error, store_path(index_store(dataset->index)));
    fail_advise(error, "build it with `recmap index --count %s`", name);
    return RECMAP_NOT_FOUND;
}

/* What counts are read from. */
struct count_source {
    recmap_dataset *dataset;
    size_t feature_index;
};

static recmap_status read_counts(void *context, uint64_t *values, uint64_t first, size_t count,
                                 recmap_error *error) {
    const struct count_source *source = context;
    return index_read_counts(values, source->dataset->index, source->feature_index, first, count,
                             error);
}

/* The index has checked each count, so that only their sum can be too large. */
recmap_status recmap_dataset_read_counts(recmap_counts **counts, recmap_dataset *dataset,
                                         const char *name, recmap_error *error) {
    struct count_source source = {.dataset = dataset};
    RETURN_IF_FAILED(find_feature(&source.feature_index, dataset, name, error));
    struct counts_reader reader = {&source, read_counts};
    recmap_status status = counts_pack(counts, &reader, dataset->info.record_count, error);
    if (status == RECMAP_CORRUPT) fail_file(error, store_path(index_store(dataset->index)));
    if (status != RECMAP_INVALID) return status;
    return index_fail(dataset->index, error, "its element counts add up to more than 2^62");
}
