/* Positions of many ids. */
#include "dataset/lookup/find_many.h"

#include "base/core/error.h"

recmap_status dataset_check_can_find_many(const recmap_dataset *dataset, const recmap_value *id,
                                          recmap_error *error) {
    if (!dataset->part_count) return dataset_check_can_find(dataset, id, error);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < dataset->part_count; i++)
        status = dataset_check_can_find(dataset->parts[i].dataset, id, error);
    return status;
}

recmap_status id_lookup_find(int64_t *positions, struct id_lookup *lookup, recmap_dataset *dataset,
                             const recmap_value *ids, size_t count, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    lookup->dataset = dataset;
    lookup->first_record = 0;
    lookup->positions = positions;
    lookup->ids = ids;
    lookup->count = count;
    for (size_t i = 0; i < count; i++) positions[i] = -1;
    if (!dataset->part_count) return id_lookup_run(lookup, error);
    for (size_t i = 0; status == RECMAP_OK && i < dataset->part_count; i++) {
        lookup->dataset = dataset->parts[i].dataset;
        lookup->first_record = dataset->parts[i].first_record;
        status = id_lookup_run(lookup, error);
    }
    return status;
}

recmap_status recmap_dataset_find_many(int64_t *positions, recmap_dataset *dataset,
                                       const recmap_value *ids, size_t count,
                                       recmap_position_fn position, void *context,
                                       recmap_error *error) {
    struct id_lookup lookup = {.position = position, .position_context = context};
    size_t group = id_lookup_limit(dataset);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        if (!i || ids[i].type != ids[i - 1].type)
            status = dataset_check_can_find_many(dataset, &ids[i], error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i += group)
        status = id_lookup_find(positions + i, &lookup, dataset, ids + i, min_u64(count - i, group),
                                error);
    id_lookup_deinit(&lookup);
    return status;
}
