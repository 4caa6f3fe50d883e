#include <recmap/duplicates.h>

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/batch.h>
#include <recmap/example.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/hash.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "dataset/batch/parse.h"
#include "dataset/open/dataset.h"

enum { GROUP_SIZE = 256, ITEM_WORK = 16 /* for the interrupt, in bytes */ };

/* The hash of the compared part of an item. */
struct item_hash {
    uint64_t low, high;
    uint64_t item;
};

struct duplicate_search {
    recmap_dataset *dataset;
    const uint64_t *numbers; /* or NULL */
    const char *feature;     /* or NULL: whole payloads */
    size_t feature_size;
    XXH3_state_t *state;
    struct item_hash *hashes; /* of the items that have something to compare */
    size_t hash_count;
    bool has_feature; /* of the current record */
    uint64_t bytes_done;
    recmap_progress_fn progress;
    void *progress_context;
};

static uint64_t number_of(const struct duplicate_search *search, uint64_t item) {
    return search->numbers ? search->numbers[item] : item;
}

/* ---- Hashing one record. */

static void update_number(XXH3_state_t *state, uint64_t number) {
    uint8_t bytes[8];
    store64(bytes, number);
    XXH3_128bits_update(state, bytes, sizeof bytes);
}

/* Sizes separate values and parts, so that different values never give the same bytes. */
static recmap_status hash_part(const recmap_example_part *part, void *context) {
    struct duplicate_search *search = context;
    if (part->name_size != search->feature_size ||
        memcmp(part->name, search->feature, part->name_size) != 0)
        return RECMAP_OK;
    search->has_feature = true;
    update_number(search->state, (uint64_t)part->kind << 8 | (uint64_t)part->type);
    update_number(search->state, part->count);
    if (part->int64s)
        XXH3_128bits_update(search->state, part->int64s, part->count * sizeof *part->int64s);
    if (part->floats)
        XXH3_128bits_update(search->state, part->floats, part->count * sizeof *part->floats);
    for (size_t i = 0; part->bytes && i < part->count; i++) {
        update_number(search->state, part->bytes[i].size);
        XXH3_128bits_update(search->state, part->bytes[i].data, part->bytes[i].size);
    }
    return RECMAP_OK;
}

/* Adds the hash of the record's bytes, or of the values of the feature. A record without the
 * feature has no hash, so it is not a duplicate of any other. */
static recmap_status hash_record(struct duplicate_search *search, const recmap_record *record,
                                 uint64_t item, recmap_error *error) {
    XXH128_hash_t hash;
    if (search->feature) {
        XXH3_128bits_reset(search->state);
        search->has_feature = false;
        recmap_status status =
            recmap_example_visit(hash_part, search, record->data, record->size, error);
        if (status != RECMAP_OK) {
            fail_at(error, NULL, record->number, RECMAP_NO_OFFSET);
            dataset_place_error(search->dataset, error);
            return status;
        }
        if (!search->has_feature) return RECMAP_OK;
        hash = XXH3_128bits_digest(search->state);
    } else {
        hash = XXH3_128bits(record->data, record->size);
    }
    search->hashes[search->hash_count++] = (struct item_hash){hash.low64, hash.high64, item};
    return RECMAP_OK;
}

/* ---- Reading. */

static recmap_status report(const struct duplicate_search *search, uint64_t done, uint64_t count,
                            recmap_error *error) {
    double mean = (double)search->bytes_done / (double)done;
    recmap_progress progress = {.bytes_done = search->bytes_done,
                                .bytes_total = (uint64_t)(mean * (double)count),
                                .record_count = done};
    if (!search->progress || !search->progress(&progress, search->progress_context))
        return RECMAP_OK;
    return fail(error, RECMAP_CANCELLED, "cancelled");
}

static recmap_status hash_group(struct duplicate_search *search, recmap_batch *batch,
                                const uint64_t *items, size_t count, recmap_error *error) {
    uint64_t numbers[GROUP_SIZE];
    for (size_t i = 0; i < count; i++) numbers[i] = number_of(search, items[i]);
    RETURN_IF_FAILED(recmap_dataset_gather(batch, search->dataset, numbers, count, error));
    const recmap_record *records = recmap_batch_records(batch);
    for (size_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(hash_record(search, &records[i], items[i], error));
        search->bytes_done += records[i].size;
    }
    return RECMAP_OK;
}

/* Hashes the items of a list, or items 0 to count - 1 if it is NULL. */
static recmap_status hash_items(struct duplicate_search *search, recmap_batch *batch,
                                const uint64_t *items, uint64_t count, recmap_error *error) {
    for (uint64_t first = 0; first < count; first += GROUP_SIZE) {
        uint64_t group[GROUP_SIZE];
        size_t size = (size_t)min_u64(count - first, GROUP_SIZE);
        for (size_t i = 0; i < size; i++) group[i] = items ? items[first + i] : first + i;
        RETURN_IF_FAILED(hash_group(search, batch, group, size, error));
        RETURN_IF_FAILED(report(search, first + size, count, error));
    }
    return RECMAP_OK;
}

/* ---- Comparing hashes. */

static int compare_hashes(const void *a, const void *b) {
    const struct item_hash *left = a, *right = b;
    if (left->high != right->high) return left->high < right->high ? -1 : 1;
    if (left->low != right->low) return left->low < right->low ? -1 : 1;
    return (left->item > right->item) - (left->item < right->item);
}

static bool is_equal(const struct item_hash *a, const struct item_hash *b) {
    return a->low == b->low && a->high == b->high;
}

/* Calls the progress function during work that reads no records, so that it can also end that work.
 */
static int ask_progress(void *context) {
    const struct duplicate_search *search = context;
    recmap_progress progress = {.bytes_done = search->bytes_done,
                                .bytes_total = search->bytes_done,
                                .record_count = search->hash_count};
    return search->progress(&progress, search->progress_context);
}

static recmap_status sort_hashes(struct duplicate_search *search, recmap_error *error) {
    return sort_items(search->hashes, search->hash_count, sizeof *search->hashes, compare_hashes,
                      error);
}

/* Counts an item that was looked at. Most are in memory that is not in a cache. */
static recmap_status count_item(recmap_error *error) {
    return interrupt_check(thread_interrupt(), ITEM_WORK, error);
}

/* Equal hashes are neighbours, and the first of them has the smallest item. */
static recmap_status set_firsts(uint64_t *firsts, struct duplicate_search *search, size_t count,
                                recmap_error *error) {
    for (size_t i = 0; i < count; i++) firsts[i] = i;
    RETURN_IF_FAILED(sort_hashes(search, error));
    for (size_t i = 1, first = 0; i < search->hash_count; i++) {
        if (!is_equal(&search->hashes[i], &search->hashes[first])) first = i;
        assert(search->hashes[first].item <= search->hashes[i].item);
        firsts[search->hashes[i].item] = search->hashes[first].item;
        RETURN_IF_FAILED(count_item(error));
    }
    return RECMAP_OK;
}

static recmap_status read_id_hashes(struct duplicate_search *search, size_t count,
                                    recmap_error *error) {
    uint64_t *ids = malloc((size_t)(search->dataset->info.record_count + 1) * sizeof *ids);
    if (!ids) return fail_memory(error);
    recmap_status status = recmap_dataset_read_id_hashes(ids, search->dataset, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
        uint64_t id = ids[number_of(search, i)];
        if (id != RECMAP_NO_ID_HASH)
            search->hashes[search->hash_count++] = (struct item_hash){id, 0, i};
        status = count_item(error);
    }
    free(ids);
    return status;
}

/* Writes to `items` those whose 48-bit hashes of ids occur more than once. */
static recmap_status find_candidates(uint64_t *items, uint64_t *item_count,
                                     struct duplicate_search *search, size_t count,
                                     recmap_error *error) {
    RETURN_IF_FAILED(read_id_hashes(search, count, error));
    RETURN_IF_FAILED(sort_hashes(search, error));
    const struct item_hash *hashes = search->hashes;
    *item_count = 0;
    for (size_t i = 0; i < search->hash_count; i++) {
        if ((i && is_equal(&hashes[i], &hashes[i - 1])) ||
            (i + 1 < search->hash_count && is_equal(&hashes[i], &hashes[i + 1])))
            items[(*item_count)++] = hashes[i].item;
        RETURN_IF_FAILED(count_item(error));
    }
    search->hash_count = 0;
    return RECMAP_OK;
}

/* `firsts` holds the candidates until their records are hashed. */
static recmap_status find_duplicates(uint64_t *firsts, struct duplicate_search *search,
                                     recmap_batch *batch, size_t count, bool by_id,
                                     recmap_error *error) {
    uint64_t item_count = count;
    struct interrupt former =
        thread_interrupt_replace(search->progress ? ask_progress : NULL, search);
    recmap_status status = by_id ? find_candidates(firsts, &item_count, search, count, error)
                                 : RECMAP_OK;
    thread_interrupt_restore(&former);
    RETURN_IF_FAILED(status);
    RETURN_IF_FAILED(hash_items(search, batch, by_id ? firsts : NULL, item_count, error));
    if (search->feature && !by_id && count && !search->hash_count) {
        fail(error, RECMAP_FEATURE, "no record has the feature '%.200s'", search->feature);
        fail_file(error, dataset_path(search->dataset));
        fail_advise(error, "`recmap schema` lists the features");
        return RECMAP_FEATURE;
    }
    former = thread_interrupt_replace(search->progress ? ask_progress : NULL, search);
    status = set_firsts(firsts, search, count, error);
    thread_interrupt_restore(&former);
    return status;
}

/* Why the records cannot be compared by id. Only a concatenation can have ids without a name. */
static recmap_status fail_without_ids(const recmap_dataset *dataset, recmap_error *error) {
    if (dataset->info.id_name) fail(error, RECMAP_INVALID, "the ids were read by a callback");
    else if (dataset->info.id_count)
        fail(error, RECMAP_INVALID, "the parts do not all have ids of one feature");
    else fail(error, RECMAP_INVALID, "the index has no ids");
    fail_file(error, dataset_path(dataset));
    fail_advise(error, dataset->info.id_name || !dataset->info.id_count
                           ? "compare the records' contents, or a feature"
                           : "compare the records' contents, or a feature; or index the shards of "
                             "each part with the same id feature");
    return RECMAP_INVALID;
}

static recmap_status check_arguments(const char **feature, const recmap_dataset *dataset,
                                     const uint64_t *numbers, size_t count, bool by_id,
                                     recmap_error *error) {
    for (size_t i = 0; numbers && i < count; i++)
        RETURN_IF_FAILED(dataset_check_range(dataset, numbers[i], 1, error));
    if (!numbers) RETURN_IF_FAILED(dataset_check_range(dataset, 0, count, error));
    if (!by_id) return RECMAP_OK;
    *feature = dataset->info.id_name;
    if (*feature && (dataset->part_count || !index_manifest(dataset->index)->extracted_by_caller))
        return RECMAP_OK;
    return fail_without_ids(dataset, error);
}

recmap_status recmap_dataset_find_duplicates(uint64_t *firsts, recmap_dataset *dataset,
                                             const uint64_t *numbers, size_t count,
                                             const recmap_duplicates_options *options,
                                             recmap_error *error) {
    static const recmap_duplicates_options defaults = RECMAP_DUPLICATES_OPTIONS_INIT;
    if (!options) options = &defaults;
    if (options->version != RECMAP_DUPLICATES_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_duplicates_options has version %u, expected %d",
                    options->version, RECMAP_DUPLICATES_OPTIONS_VERSION);
    const char *feature = options->feature;
    bool by_id = options->by_id != 0;
    RETURN_IF_FAILED(check_arguments(&feature, dataset, numbers, count, by_id, error));
    struct duplicate_search search = {
        .dataset = dataset,
        .numbers = numbers,
        .feature = feature,
        .feature_size = feature ? strlen(feature) : 0,
        .state = XXH3_createState(),
        .hashes = malloc((count + 1) * sizeof *search.hashes),
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    recmap_batch *batch = NULL;
    recmap_status status = search.state && search.hashes ? recmap_batch_create(&batch, error)
                                                         : fail_memory(error);
    if (status == RECMAP_OK) status = find_duplicates(firsts, &search, batch, count, by_id, error);
    recmap_batch_destroy(batch);
    XXH3_freeState(search.state);
    free(search.hashes);
    return status;
}
