#include "indexing/inherited.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/message.h"

static recmap_status inherit_columns(struct inherited *inherited, recmap_index_options *options,
                                     recmap_error *error) {
    size_t count = recmap_dataset_get_info(inherited->dataset)->lifted_column_count;
    /* Column 0 is the length, which every index has. */
    if (count < 2) return RECMAP_OK;
    inherited->lifts = calloc(count - 1, sizeof *inherited->lifts);
    if (!inherited->lifts) return message_fail_memory(error);
    for (size_t i = 1; i < count; i++) {
        recmap_lifted_column column;
        RETURN_IF_FAILED(recmap_dataset_get_lifted_column(&column, inherited->dataset, i, error));
        inherited->lifts[i - 1] = (recmap_lift){column.name, column.default_value, 0};
    }
    options->lifts = inherited->lifts;
    options->lift_count = count - 1;
    return RECMAP_OK;
}

static recmap_status inherit_counts(struct inherited *inherited, recmap_index_options *options,
                                    const recmap_dataset *dataset, recmap_error *error) {
    size_t count = recmap_dataset_get_info(dataset)->counted_feature_count;
    if (!count) return RECMAP_OK;
    inherited->counted_features = calloc(count, sizeof *inherited->counted_features);
    if (!inherited->counted_features) return message_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(
            recmap_dataset_get_counted_feature(&inherited->counted_features[i], dataset, i, error));
    }
    options->counted_features = inherited->counted_features;
    options->counted_feature_count = count;
    return RECMAP_OK;
}

/* New shards are assumed to have the framing of the last one. */
static recmap_status inherit_framing(struct inherited *inherited, recmap_index_options *options,
                                     recmap_error *error) {
    recmap_shard_info last;
    uint64_t count = recmap_dataset_get_info(inherited->dataset)->shard_count;
    if (!count) return RECMAP_OK;
    RETURN_IF_FAILED(recmap_dataset_get_shard(&last, inherited->dataset, count - 1, error));
    options->framing = last.framing;
    return RECMAP_OK;
}

recmap_status inherited_open(struct inherited *inherited, recmap_index_options *options,
                             const char *path, const recmap_dataset_options *dataset_options,
                             recmap_error *error) {
    RETURN_IF_FAILED(recmap_dataset_open(&inherited->dataset, path, dataset_options, error));
    if (!options->framing || !strcmp(options->framing, "auto"))
        RETURN_IF_FAILED(inherit_framing(inherited, options, error));
    if (options->id_feature || options->lift_count || options->counted_feature_count)
        return RECMAP_OK;
    RETURN_IF_FAILED(inherit_columns(inherited, options, error));
    return inherited_borrow(inherited, options, inherited->dataset, error);
}

recmap_status inherited_borrow(struct inherited *inherited, recmap_index_options *options,
                               const recmap_dataset *dataset, recmap_error *error) {
    options->id_feature = recmap_dataset_get_info(dataset)->id_name;
    return inherit_counts(inherited, options, dataset, error);
}

void inherited_close(struct inherited *inherited) {
    recmap_dataset_close(inherited->dataset);
    free(inherited->lifts);
    free(inherited->counted_features);
}
