/* Positions of many ids, and of the ids of another data set's records. */
#include "base/error.h"
#include "lookup/id_lookup.h"
#include "lookup/record_ids.h"

/* Ids that are looked up together. More would need more memory, about 60 bytes each, and hardly
 * save time: the table of ids and the shards are read once for each group. */
enum { GROUP_IDS = 1 << 20 };

static recmap_status check_can_find(const recmap_dataset *dataset, const recmap_value *id,
                                    recmap_error *error) {
    if (!dataset->part_count) return dataset_check_can_find(dataset, id, error);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < dataset->part_count; i++)
        status = dataset_check_can_find(dataset->parts[i].dataset, id, error);
    return status;
}

static recmap_status find_group(int64_t *positions, recmap_dataset *dataset,
                                const recmap_value *ids, size_t count, recmap_position_fn position,
                                void *context, recmap_error *error) {
    struct id_lookup lookup = {.dataset = dataset,
                               .position = position,
                               .position_context = context,
                               .positions = positions,
                               .ids = ids,
                               .count = count};
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; i < count; i++) positions[i] = -1;
    if (!dataset->part_count) return id_lookup_run(&lookup, error);
    for (size_t i = 0; status == RECMAP_OK && i < dataset->part_count; i++) {
        lookup.dataset = dataset->parts[i].dataset;
        lookup.first_record = dataset->parts[i].first_record;
        status = id_lookup_run(&lookup, error);
    }
    return status;
}

recmap_status recmap_dataset_find_many(int64_t *positions, recmap_dataset *dataset,
                                       const recmap_value *ids, size_t count,
                                       recmap_position_fn position, void *context,
                                       recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        if (!i || ids[i].type != ids[i - 1].type) status = check_can_find(dataset, &ids[i], error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i += GROUP_IDS)
        status = find_group(positions + i, dataset, ids + i, min_u64(count - i, GROUP_IDS),
                            position, context, error);
    return status;
}

static recmap_status match_group(int64_t *positions, recmap_dataset *dataset,
                                 recmap_dataset *source, const uint64_t *numbers, size_t count,
                                 recmap_position_fn position, void *context, recmap_error *error) {
    struct record_ids ids = RECORD_IDS_INIT;
    recmap_status status = record_ids_read(&ids, source, numbers, count, error);
    if (status == RECMAP_OK)
        status = find_group(positions, dataset, ids.ids, count, position, context, error);
    record_ids_deinit(&ids);
    return status;
}

recmap_status recmap_dataset_match(int64_t *positions, recmap_dataset *dataset,
                                   recmap_dataset *source, const uint64_t *numbers, size_t count,
                                   recmap_position_fn position, void *context,
                                   recmap_error *error) {
    const recmap_value any = {.type = RECMAP_TYPE_INT64};
    RETURN_IF_FAILED(check_can_find(source, &any, error));
    RETURN_IF_FAILED(check_can_find(dataset, &any, error));
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < count; i += GROUP_IDS)
        status = match_group(positions + i, dataset, source, numbers + i,
                             min_u64(count - i, GROUP_IDS), position, context, error);
    return status;
}
