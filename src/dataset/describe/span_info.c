/* Totals of the compressed shards of a data set. */
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "dataset/open/concat.h"
#include "dataset/open/dataset.h"
#include "dataset/spans/span.h"

static void add_shard(recmap_span_info *info, const struct shard_entry *entry,
                      const struct point_list *points) {
    struct span_source source = {.entry = entry, .points = points};
    info->shard_count++;
    info->byte_count += entry->file_size;
    info->inflated_size += entry->size;
    info->point_count += points->count;
    info->span_count += points->count + 1;
    for (uint64_t i = 0; i <= points->count; i++) {
        uint64_t size = span_end(&source, i) - span_begin(&source, i);
        if (info->largest_size < size) info->largest_size = size;
    }
}

static recmap_status add_parts(recmap_span_info *info, const recmap_dataset *dataset,
                               recmap_error *error) {
    recmap_span_info totals = {0};
    for (size_t i = 0; i < dataset->part_count; i++) {
        recmap_span_info part;
        RETURN_IF_FAILED(recmap_dataset_get_span_info(&part, dataset->parts[i].dataset, error));
        totals.shard_count += part.shard_count;
        totals.byte_count += part.byte_count;
        totals.inflated_size += part.inflated_size;
        totals.point_count += part.point_count;
        totals.span_count += part.span_count;
        totals.keep_size += part.keep_size;
        if (totals.largest_size < part.largest_size) totals.largest_size = part.largest_size;
    }
    *info = totals;
    return RECMAP_OK;
}

recmap_status recmap_dataset_get_span_info(recmap_span_info *info, const recmap_dataset *dataset,
                                           recmap_error *error) {
    if (dataset->part_count) return add_parts(info, dataset, error);
    recmap_span_info totals = {.keep_size = shard_cache_span_keep_size(dataset->shards)};
    for (size_t i = 0; i < dataset->info.shard_count; i++) {
        const struct shard_entry *entry = &dataset->shard_table[i].entry;
        struct point_list points = {0};
        if (entry->compression == COMPRESSION_NONE) continue;
        RETURN_IF_FAILED(index_points(&points, dataset->index, i, error));
        add_shard(&totals, entry, &points);
        points_deinit(&points);
    }
    if (!totals.shard_count) totals.keep_size = 0;
    *info = totals;
    return RECMAP_OK;
}
