#include "indexing/counted.h"

#include <stdbool.h>
#include <string.h>

#include <recmap/counts.h>
#include <recmap/example.h>

#include "terminal/message.h"

enum { SAMPLE_MAX = 10 }; /* records read to learn the type of a feature */

/* Adds the first records. Those that cannot be read are left out. */
static recmap_status add_sample(recmap_schema *schema, recmap_dataset *dataset) {
    uint64_t count = recmap_dataset_get_info(dataset)->record_count;
    for (uint64_t i = 0; i < count && i < SAMPLE_MAX; i++) {
        recmap_record record;
        if (recmap_dataset_get(&record, dataset, i, NULL) != RECMAP_OK) continue;
        recmap_status status = recmap_schema_add(schema, record.data, record.size, NULL);
        recmap_record_release(&record);
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

/* Returns true if the feature is of bytes in the first records. */
static bool is_of_bytes(recmap_dataset *dataset, const char *name) {
    recmap_schema *schema;
    bool is_found = false;
    if (recmap_schema_create(&schema, NULL) != RECMAP_OK) return false;
    bool is_good = add_sample(schema, dataset) == RECMAP_OK;
    for (size_t i = 0; is_good && i < recmap_schema_feature_count(schema); i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        is_found |= !feature.is_list && !strcmp(feature.name, name) &&
                    !strcmp(feature.kind, "bytes");
    }
    recmap_schema_destroy(schema);
    return is_found;
}

static bool counts_values_of_bytes(recmap_dataset *dataset, const char *name) {
    recmap_counts *counts;
    if (recmap_dataset_read_counts(&counts, dataset, name, NULL) != RECMAP_OK) return false;
    uint64_t longest = recmap_counts_longest(counts);
    recmap_counts_release(counts);
    return longest == 1 && is_of_bytes(dataset, name);
}

static void warn_of_bytes(recmap_dataset *dataset, const char *name) {
    if (counts_values_of_bytes(dataset, name))
        message("no count of '%s' exceeds 1: its values are bytes, and each counts once; to count "
                "the numbers in them, give their type, as in --count %s:uint8",
                name, name);
}

void counted_warn(const char *path, const recmap_index_summary *summary,
                  const recmap_index_options *options,
                  const recmap_dataset_options *dataset_options) {
    recmap_dataset_options opening = *dataset_options;
    recmap_dataset *dataset = NULL;
    opening.allow_absolute_paths = opening.allow_urls = 1;
    if (!summary->record_count || !options->counted_feature_count) return;
    /* Without the data set, the type of a feature is not known. */
    bool is_open = recmap_dataset_open(&dataset, path, &opening, NULL) == RECMAP_OK;
    for (size_t i = 0; i < options->counted_feature_count; i++) {
        const recmap_counted_feature *feature = &options->counted_features[i];
        if (summary->empty_counted_features >> i & 1)
            message("no record has elements of the counted feature '%s'", feature->name);
        else if (is_open && feature->element == RECMAP_ELEMENT_NONE)
            warn_of_bytes(dataset, feature->name);
    }
    recmap_dataset_close(dataset);
}
