/* Records by id: candidates by hash from the index, then the id is compared in the record. */
#include "dataset/lookup/find.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/error.h"
#include "dataset/open/concat.h"

recmap_status dataset_check_can_find(const recmap_dataset *dataset, const recmap_value *id,
                                     recmap_error *error) {
    const char *path = dataset_path(dataset);
    if (id->type != RECMAP_TYPE_BYTES && id->type != RECMAP_TYPE_INT64)
        return fail(error, RECMAP_INVALID, "an id is of type BYTES or INT64");
    if (dataset->extractor) return RECMAP_OK;
    if (!dataset->info.id_name) {
        fail(error, RECMAP_INVALID, "the index has no ids");
        dataset_advise_rebuild(error, dataset, (struct rebuild_option){"--id", "FEATURE"},
                               "build it with ");
    } else if (strchr(dataset->info.id_name, ':')) {
        fail(error, RECMAP_INVALID, "the ids of this index are fields of messages: '%.200s'",
             dataset->info.id_name);
        fail_advise(error, "find them with --descriptor FILE; in Python, open the data set with "
                           "id= as it was indexed");
    } else {
        fail(error, RECMAP_INVALID, "the ids of this index were read by a callback");
        fail_advise(error, "open the data set with the same callback (options.lift, only in C), or "
                           "index the shards again with `recmap index --id FEATURE`");
    }
    fail_file(error, path);
    return RECMAP_INVALID;
}

bool is_same_id(const recmap_value *a, const recmap_value *b) {
    if (a->type != b->type) return false;
    if (a->type == RECMAP_TYPE_INT64) return a->as.int64 == b->as.int64;
    return a->as.bytes.size == b->as.bytes.size &&
           (!a->as.bytes.size || !memcmp(a->as.bytes.data, b->as.bytes.data, a->as.bytes.size));
}

static void name_place(const recmap_dataset *dataset, uint64_t number, recmap_error *error) {
    struct index_place place;
    if (dataset_find_place(&place, dataset, number, NULL) != RECMAP_OK) return;
    dataset_fail_at(error, dataset, place.shard_index, number, place.offset);
}

recmap_status dataset_read_id(recmap_value *id, struct id_room *room, const recmap_dataset *dataset,
                              const recmap_record *record, uint64_t number, recmap_error *error) {
    recmap_status status =
        extractor_read_id(id, room, dataset->extractor, record->data, record->size, error);
    if (status != RECMAP_OK) name_place(dataset, number, error);
    return status;
}

/* The index found the record by the hash of the id, but the record has an id of another hash. */
static recmap_status fail_other_id(const recmap_dataset *dataset, uint64_t number,
                                   recmap_error *error) {
    fail(error, RECMAP_STALE,
         "the shard changed since it was indexed: the record has another id than in the index");
    dataset_advise_rebuild(error, dataset, (struct rebuild_option){NULL, NULL},
                           "restore the indexed file, or build the index again with ");
    name_place(dataset, number, error);
    return RECMAP_STALE;
}

static bool has_same_hash(const recmap_value *record_id, const recmap_value *id) {
    return record_id->type != RECMAP_TYPE_NONE && id_hash(record_id) == id_hash(id);
}

recmap_status dataset_has_id(bool *matches, recmap_dataset *dataset, uint64_t number,
                             const recmap_value *id, recmap_error *error) {
    recmap_record record;
    RETURN_IF_FAILED(recmap_dataset_get(&record, dataset, number, error));
    recmap_value record_id;
    struct id_room room;
    recmap_status status = dataset_read_id(&record_id, &room, dataset, &record, number, error);
    if (status == RECMAP_OK) {
        *matches = is_same_id(&record_id, id);
        if (!*matches && !has_same_hash(&record_id, id))
            status = fail_other_id(dataset, number, error);
    }
    recmap_record_release(&record);
    return status;
}

/* All matches in the parts, ascending because parts are in order. */
static recmap_status find_all_in_parts(uint64_t *numbers, size_t capacity, size_t *count,
                                       const recmap_dataset *dataset, const recmap_value *id,
                                       recmap_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < dataset->part_count; i++) {
        const struct dataset_part *part = &dataset->parts[i];
        size_t stored = total < capacity ? total : capacity, part_count = 0;
        RETURN_IF_FAILED(recmap_dataset_find_all(stored < capacity ? numbers + stored : NULL,
                                                 capacity - stored, &part_count, part->dataset, id,
                                                 error));
        for (size_t j = stored; j < stored + part_count && j < capacity; j++)
            numbers[j] += part->first_record;
        total += part_count;
    }
    *count = total;
    return RECMAP_OK;
}

/* Records with the same hash are candidates; their own ids decide. All are counted, also those for
 * which there is no room. */
recmap_status recmap_dataset_find_all(uint64_t *numbers, size_t capacity, size_t *count,
                                      recmap_dataset *dataset, const recmap_value *id,
                                      recmap_error *error) {
    if (dataset->part_count) return find_all_in_parts(numbers, capacity, count, dataset, id, error);
    RETURN_IF_FAILED(dataset_check_can_find(dataset, id, error));
    struct index_candidates candidates;
    RETURN_IF_FAILED(index_candidates_init(&candidates, dataset->index, id_hash(id), error));
    size_t matched = 0;
    for (;;) {
        uint64_t number;
        bool is_found, matches = false;
        RETURN_IF_FAILED(index_candidates_next(&candidates, &number, &is_found, error));
        if (!is_found) break;
        RETURN_IF_FAILED(dataset_has_id(&matches, dataset, number, id, error));
        if (!matches) continue;
        if (matched < capacity) numbers[matched] = number;
        matched++;
    }
    *count = matched;
    return RECMAP_OK;
}

static recmap_status fail_not_found(const recmap_dataset *dataset, const recmap_value *id,
                                    recmap_error *error) {
    if (id->type == RECMAP_TYPE_INT64) {
        fail(error, RECMAP_NOT_FOUND, "no record has the id %" PRId64, id->as.int64);
    } else {
        int shown = id->as.bytes.size < 200 ? (int)id->as.bytes.size : 200;
        fail(error, RECMAP_NOT_FOUND, "no record has the id \"%.*s\"%s", shown,
             shown ? (const char *)id->as.bytes.data : "",
             id->as.bytes.size > 200 ? " (its first 200 bytes)" : "");
    }
    fail_file(error, dataset_path(dataset));
    if (dataset->info.id_name)
        fail_advise(error, "ids are those of feature \"%s\"%s", dataset->info.id_name,
                    dataset->info.id_count ? "" : ", but no record has it");
    return RECMAP_NOT_FOUND;
}

static recmap_status find_in_parts(uint64_t *number, const recmap_dataset *dataset,
                                   const recmap_value *id, recmap_error *error) {
    for (size_t i = 0; i < dataset->part_count; i++) {
        const struct dataset_part *part = &dataset->parts[i];
        recmap_status status = recmap_dataset_find(number, part->dataset, id, error);
        if (status == RECMAP_OK) *number += part->first_record;
        if (status != RECMAP_NOT_FOUND) return status;
    }
    return fail_not_found(dataset, id, error);
}

recmap_status recmap_dataset_find(uint64_t *number, recmap_dataset *dataset, const recmap_value *id,
                                  recmap_error *error) {
    if (dataset->part_count) return find_in_parts(number, dataset, id, error);
    RETURN_IF_FAILED(dataset_check_can_find(dataset, id, error));
    struct index_candidates candidates;
    RETURN_IF_FAILED(index_candidates_init(&candidates, dataset->index, id_hash(id), error));
    for (;;) {
        uint64_t candidate;
        bool is_found, matches = false;
        RETURN_IF_FAILED(index_candidates_next(&candidates, &candidate, &is_found, error));
        if (!is_found) return fail_not_found(dataset, id, error);
        RETURN_IF_FAILED(dataset_has_id(&matches, dataset, candidate, id, error));
        if (matches) {
            *number = candidate;
            return RECMAP_OK;
        }
    }
}
