#include "dataset/open/dataset.h"

#include <recmap/table.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/memory/memory.h"
#include "base/os/map.h"
#include "base/words/url_prefix.h"
#include "dataset/open/concat.h"
#include "dataset/open/direct_support.h"
#include "dataset/open/remote_index.h"
#include "dataset/open/row_caches.h"

static void fill_info(recmap_dataset *dataset) {
    const struct manifest *manifest = index_manifest(dataset->index);
    dataset->info = (recmap_dataset_info){
        .record_count = manifest->record_count,
        .shard_count = manifest->shard_count,
        .file_count = index_file_count(dataset->index),
        .byte_count = manifest->byte_count,
        .index_size = store_size(index_store(dataset->index)),
        .id_count = manifest->id_count,
        .damage_count = manifest->damage_count,
        .damaged_byte_count = manifest->damaged_byte_count,
        .lifted_column_count = manifest->column_count + 1,
        .counted_feature_count = manifest->counted_feature_count,
        .id_name = manifest->id_name,
    };
    memcpy(dataset->info.fingerprint.bytes, manifest->fingerprint, 16);
}

static recmap_status prepare_ids(recmap_dataset *dataset, const recmap_dataset_options *options,
                                 recmap_error *error) {
    const struct manifest *manifest = index_manifest(dataset->index);
    if (!manifest->id_name || (manifest->extracted_by_caller && !options->lift)) return RECMAP_OK;
    recmap_index_options extraction = RECMAP_INDEX_OPTIONS_INIT;
    extraction.id_feature = manifest->id_name;
    extraction.lift = manifest->extracted_by_caller ? options->lift : NULL;
    extraction.lift_context = options->lift_context;
    RETURN_IF_FAILED(extractor_create(&dataset->extractor, &extraction, error));
    if (!manifest->shard_count) return RECMAP_OK;
    return extractor_use_text(dataset->extractor, dataset->shard_table[0].framing, manifest->header,
                              manifest->header_size, error);
}

const char *recmap_dataset_header(size_t *size, const recmap_dataset *dataset) {
    const struct manifest *manifest =
        index_manifest(dataset->part_count ? dataset->parts[0].dataset->index : dataset->index);
    for (size_t i = 1; i < dataset->part_count && !manifest->header; i++)
        manifest = index_manifest(dataset->parts[i].dataset->index);
    *size = manifest->header_size;
    return manifest->header;
}

static recmap_status find_framings(recmap_dataset *dataset, recmap_error *error) {
    size_t count = (size_t)index_manifest(dataset->index)->shard_count;
    dataset->framings = calloc(count + 1, sizeof *dataset->framings);
    if (!dataset->framings) return fail_memory(error);
    for (size_t i = 0; i < count; i++) dataset->framings[i] = dataset->shard_table[i].framing;
    return RECMAP_OK;
}

/* Creates the cache that opens shards when they are first read. No shard is opened here. */
static recmap_status prepare_shards(recmap_dataset *dataset, const recmap_dataset_options *options,
                                    recmap_access access, recmap_error *error) {
    struct shard_cache_options caching = {
        .folder = {.shards = options->shards,
                   .allow_absolute_paths = options->allow_absolute_paths != 0,
                   .allow_urls = options->allow_urls != 0,
                   .allow_missing_shards = options->allow_missing_shards != 0,
                   .storage = options->storage},
        .access = access,
        .limit = options->shard_limit,
        .span_keep_size = options->span_keep_size,
        .disk_cache = options->cache,
        .disk_cache_size = options->cache_size,
        .checks_data = dataset->check == FRAME_CHECK_ALL};
    dataset->access = dataset->info.access = access;
    RETURN_IF_FAILED(shard_cache_create(&dataset->shards, dataset->index, &caching, error));
    dataset->evicts_shards = shard_cache_evicts(dataset->shards);
    dataset->is_remote = shard_cache_is_remote(dataset->shards);
    return RECMAP_OK;
}

/* Returns false, after a warning, if the file system of the first shard refuses to map it. Other
 * shards are tried when they are opened. */
static bool may_map(const recmap_dataset *dataset) {
    struct shard_folder *folder = shard_cache_folder(dataset->shards);
    recmap_error refusal = RECMAP_ERROR_INIT;
    struct source *source = NULL;
    /* Opening a remote shard may take a request. */
    if (!dataset->info.shard_count || dataset->is_remote) return true;
    const char *name = dataset->shard_table[0].entry.path;
    char *path = shard_folder_find_path(folder, name);
    bool is_allowed = !path || shard_folder_open(&source, folder, name, path, NULL, NULL) ||
                      map_is_allowed(source->fd, source->stat.size, path, &refusal);
    source_close(source);
    free(path);
    if (!is_allowed) map_warn_of_reading(&refusal);
    return is_allowed;
}

/* Where files cannot be mapped, all shards are read: mapping each one would fail again. */
static recmap_status prepare_mapped(recmap_dataset *dataset, const recmap_dataset_options *options,
                                    recmap_error *error) {
    RETURN_IF_FAILED(prepare_shards(dataset, options, RECMAP_ACCESS_MAP, error));
    if (may_map(dataset)) return RECMAP_OK;
    shard_cache_destroy(dataset->shards);
    dataset->shards = NULL;
    return prepare_shards(dataset, options, RECMAP_ACCESS_READ, error);
}

/* RECMAP_ACCESS_AUTO: tries direct reads if the data do not fit in memory. */
static recmap_status choose_access(recmap_dataset *dataset, const recmap_dataset_options *options,
                                   recmap_error *error) {
    if (options->access == RECMAP_ACCESS_MAP) return prepare_mapped(dataset, options, error);
    if (options->access != RECMAP_ACCESS_AUTO)
        return prepare_shards(dataset, options, options->access, error);
    if (dataset->info.byte_count > memory_size()) {
        recmap_status status = prepare_shards(dataset, options, RECMAP_ACCESS_DIRECT, error);
        if (status != RECMAP_OK || dataset_supports_direct(dataset)) return status;
        shard_cache_destroy(dataset->shards);
        dataset->shards = NULL;
    }
    return prepare_mapped(dataset, options, error);
}

static recmap_status open_parts(recmap_dataset *dataset, const char *path,
                                const recmap_dataset_options *options, recmap_error *error) {
    struct store_options store = {.check_all = options->index_check == RECMAP_INDEX_CHECK_FULL,
                                  .in_memory = options->index_in_memory != 0};
    if (options->guard) RETURN_IF_FAILED(recmap_guard_install(error));
    RETURN_IF_FAILED(url_is_url(path) ? remote_index_open(&dataset->index, path, options, error)
                                      : index_open(&dataset->index, path, &store, error));
    fill_info(dataset);
    dataset->shard_table = index_shards(dataset->index);
    RETURN_IF_FAILED(choose_access(dataset, options, error));
    RETURN_IF_FAILED(find_framings(dataset, error));
    return prepare_ids(dataset, options, error);
}

/* Records of a data set above this size are prefetched into the first-level cache only (see
 * prefetch_level), so that the second level keeps the index. Measured for random reads with a
 * second level of 2 MiB: for a data set of 20 MB it makes no difference, one of 75 MB is read
 * faster. */
enum { CACHES_MAX = 64 << 20 };

static recmap_status check_options(const char *path, const recmap_dataset_options *options,
                                   recmap_error *error) {
    if (options->version != RECMAP_DATASET_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_dataset_options has version %u, expected %d",
                    options->version, RECMAP_DATASET_OPTIONS_VERSION);
    if (!path || !*path) return fail(error, RECMAP_INVALID, "the index has no path");
    if (options->cache && !*options->cache)
        return fail(error, RECMAP_INVALID, "the folder of the cache has no name");
    if ((unsigned)options->access > RECMAP_ACCESS_AUTO ||
        (unsigned)options->check > RECMAP_CHECK_HEADER ||
        (unsigned)options->index_check > RECMAP_INDEX_CHECK_FULL)
        return fail(error, RECMAP_INVALID, "access, check or index_check is none of its values");
    return RECMAP_OK;
}

/* Opens the index first and the cache of shards after it. Shards are opened on first use. */
recmap_status recmap_dataset_open(recmap_dataset **dataset, const char *path,
                                  const recmap_dataset_options *options, recmap_error *error) {
    static const recmap_dataset_options defaults = RECMAP_DATASET_OPTIONS_INIT;
    if (!options) options = &defaults;
    RETURN_IF_FAILED(check_options(path, options, error));
    recmap_dataset *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->check = options->check == RECMAP_CHECK_HEADER ? FRAME_CHECK_HEADER : FRAME_CHECK_ALL;
    recmap_status status = open_parts(fresh, path, options, error);
    if (status == RECMAP_OK) {
        fresh->outgrows_caches = fresh->info.byte_count > CACHES_MAX;
        *dataset = fresh;
    } else {
        recmap_dataset_close(fresh);
    }
    return status;
}

void recmap_dataset_close(recmap_dataset *dataset) {
    if (!dataset) return;
    record_buffers_destroy(dataset);
    concat_deinit(dataset);
    shard_cache_destroy(dataset->shards);
    extractor_destroy(dataset->extractor);
    row_caches_destroy(atomic_load(&dataset->row_caches));
    free(dataset->framings);
    index_close(dataset->index);
    free(dataset);
}

recmap_status recmap_guard_install(recmap_error *error) {
    return guard_install(error);
}

const recmap_dataset_info *recmap_dataset_get_info(const recmap_dataset *dataset) {
    return &dataset->info;
}

uint64_t recmap_dataset_count(const recmap_dataset *dataset) {
    return dataset->info.record_count;
}

int recmap_dataset_begins_with(const recmap_dataset *dataset, const recmap_fingerprint *fingerprint,
                               uint64_t record_count) {
    return dataset_begins_with(dataset, fingerprint, record_count);
}

static recmap_status check_shard_index(const recmap_dataset *dataset, uint64_t shard_index,
                                       recmap_error *error) {
    if (shard_index < dataset->info.shard_count) return RECMAP_OK;
    return fail(error, RECMAP_INVALID,
                "shard %" PRIu64 " is out of range: the data set has %" PRIu64 " shard%s",
                shard_index, dataset->info.shard_count, plural(dataset->info.shard_count));
}

recmap_status recmap_dataset_get_shard(recmap_shard_info *info, const recmap_dataset *dataset,
                                       uint64_t shard_index, recmap_error *error) {
    RETURN_IF_FAILED(check_shard_index(dataset, shard_index, error));
    const struct index_shard *shard = &dataset->shard_table[shard_index];
    *info = (recmap_shard_info){.path = shard->entry.path,
                                .size = shard->entry.file_size - shard->entry.start,
                                .first_byte = shard->entry.start,
                                .compression = compression_name(shard->entry.compression),
                                .first_record = shard->first_record,
                                .record_count = shard->entry.record_count,
                                .framing = shard->entry.framing};
    memcpy(info->hash, shard->entry.identity.hash, sizeof info->hash);
    return RECMAP_OK;
}

static recmap_status get_damage_of_part(recmap_damage *damage, const recmap_dataset *dataset,
                                        uint64_t damage_index, recmap_error *error) {
    const struct dataset_part *part = concat_part_of_damage(dataset, damage_index);
    recmap_status status =
        recmap_dataset_get_damage(damage, part->dataset, damage_index - part->first_damage, error);
    if (status == RECMAP_OK) damage->shard_index += part->first_shard;
    return status;
}

recmap_status recmap_dataset_get_damage(recmap_damage *damage, recmap_dataset *dataset,
                                        uint64_t damage_index, recmap_error *error) {
    if (damage_index >= dataset->info.damage_count)
        return fail(error, RECMAP_INVALID,
                    "damage %" PRIu64 " is out of range: the index lists %" PRIu64, damage_index,
                    dataset->info.damage_count);
    if (dataset->part_count) return get_damage_of_part(damage, dataset, damage_index, error);
    const struct damage_entry *entry = &index_damages(dataset->index)[damage_index];
    *damage = (recmap_damage){
        .shard_index = entry->shard,
        .record = RECMAP_NO_RECORD,
        .offset = entry->offset,
        .size = entry->length,
        .path = dataset->shard_table[entry->shard].entry.path,
        .reason = entry->reason,
    };
    return RECMAP_OK;
}

recmap_status dataset_check_range(const recmap_dataset *dataset, uint64_t first, uint64_t count,
                                  recmap_error *error) {
    uint64_t have = dataset->info.record_count;
    if (bytes_fit(first, count, have) && (count || first <= have)) return RECMAP_OK;
    if (first >= have) fail(error, RECMAP_INVALID, "record %" PRIu64 " is out of range", first);
    else
        fail(error, RECMAP_INVALID, "records %" PRIu64 " to %" PRIu64 " are out of range", first,
             first + count - 1);
    fail_file(error, dataset_path(dataset));
    if (have) fail_advise(error, "the data set has records 0 to %" PRIu64, have - 1);
    else fail_advise(error, "the data set has no records");
    return RECMAP_INVALID;
}

/* The record's size. If frames of its framing differ in overhead, the index does not determine the
 * size, and the record is read. */
static recmap_status measure(uint64_t *size, recmap_dataset *dataset,
                             const struct index_place *place, uint64_t number,
                             recmap_error *error) {
    const struct framing *framing = dataset->framings[place->shard_index];
    if (!framing->overhead_varies) {
        *size = place->frame_size > framing->overhead ? place->frame_size - framing->overhead : 0;
        return RECMAP_OK;
    }
    recmap_record record;
    RETURN_IF_FAILED(recmap_dataset_get(&record, dataset, number, error));
    *size = record.size;
    recmap_record_release(&record);
    return RECMAP_OK;
}

recmap_status recmap_dataset_locate(recmap_location *locations, recmap_dataset *dataset,
                                    uint64_t first, size_t count, recmap_error *error) {
    recmap_status status = dataset_check_range(dataset, first, count, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
        struct index_place place;
        status = dataset_find_place(&place, dataset, first + i, error);
        if (status != RECMAP_OK) break;
        locations[i] = (recmap_location){place.shard_index, place.offset, 0};
        status = measure(&locations[i].size, dataset, &place, first + i, error);
    }
    return status;
}

const char *dataset_path(const recmap_dataset *dataset) {
    return dataset->part_count ? NULL : store_path(index_store(dataset->index));
}

/* Truncates the path to `capacity`. */
static void write_shard_path(char *path, size_t capacity, const recmap_dataset *dataset,
                             uint64_t shard_index) {
    if (dataset->part_count) {
        const struct dataset_part *part = concat_part_of_shard(dataset, shard_index);
        dataset = part->dataset;
        shard_index -= part->first_shard;
    }
    shard_folder_write_path(path, capacity, shard_cache_folder(dataset->shards),
                            dataset->shard_table[shard_index].entry.path);
}

recmap_status recmap_dataset_shard_path(char *path, size_t capacity, const recmap_dataset *dataset,
                                        uint64_t shard_index, recmap_error *error) {
    RETURN_IF_FAILED(check_shard_index(dataset, shard_index, error));
    char whole[sizeof error->path];
    write_shard_path(whole, sizeof whole, dataset, shard_index);
    size_t size = strlen(whole) + 1;
    if (size > capacity || size == sizeof whole) {
        fail(error, RECMAP_INVALID, "the path of shard %" PRIu64 " does not fit in %zu bytes",
             shard_index, capacity);
        fail_advise(error, "give room for PATH_MAX bytes");
        return RECMAP_INVALID;
    }
    memcpy(path, whole, size);
    return RECMAP_OK;
}

void dataset_fail_at(recmap_error *error, const recmap_dataset *dataset, uint32_t shard_index,
                     uint64_t number, uint64_t offset) {
    if (!error) return;
    char path[sizeof error->path];
    write_shard_path(path, sizeof path, dataset, shard_index);
    fail_at(error, path, number, offset);
}

const char *dataset_path_of_shard(const recmap_dataset *dataset, uint32_t shard_index) {
    if (!dataset->part_count) return dataset_path(dataset);
    return dataset_path(concat_part_of_shard(dataset, shard_index)->dataset);
}

/* ---- Places. */

recmap_status concat_locate(struct index_place *place, const recmap_dataset *dataset,
                            uint64_t number, recmap_error *error) {
    const struct dataset_part *part = concat_part_of_record(dataset, number);
    recmap_status status =
        index_locate(place, part->dataset->index, number - part->first_record, error);
    if (status == RECMAP_OK) place->shard_index += (uint32_t)part->first_shard;
    return status;
}

recmap_status concat_pin_shard(struct open_shard **shard, const recmap_dataset *dataset,
                               uint32_t shard_index, recmap_error *error) {
    const struct dataset_part *part = concat_part_of_shard(dataset, shard_index);
    return shard_cache_pin(shard, part->dataset->shards, shard_index - (uint32_t)part->first_shard,
                           error);
}

/* The index that has a record, and the record's number in it. */
static struct index_file *index_of_record(const recmap_dataset *dataset, uint64_t *number) {
    if (__builtin_expect(!dataset->part_count, 1)) return dataset->index;
    const struct dataset_part *part = concat_part_of_record(dataset, *number);
    *number -= part->first_record;
    return part->dataset->index;
}

void dataset_prefetch_place(const recmap_dataset *dataset, uint64_t number) {
    const struct index_file *index = index_of_record(dataset, &number);
    index_prefetch(index, number);
}

void dataset_prefetch_place_bits(const recmap_dataset *dataset, uint64_t number) {
    const struct index_file *index = index_of_record(dataset, &number);
    index_prefetch_bits(index, number);
}

bool dataset_guess_place(uint32_t *shard_index, uint64_t *offset, const recmap_dataset *dataset,
                         uint64_t number) {
    const struct dataset_part *part = dataset->part_count ? concat_part_of_record(dataset, number)
                                                          : NULL;
    const struct index_file *index = index_of_record(dataset, &number);
    if (!index_guess(shard_index, offset, index, number)) return false;
    if (part) *shard_index += (uint32_t)part->first_shard;
    return true;
}

/* ---- Advice. */

/* The index, if commands that name it find its shards; else NULL. */
static const struct index_file *index_beside_shards(const recmap_dataset *dataset) {
    bool is_moved = !dataset->part_count && shard_cache_folder(dataset->shards)->is_moved;
    return is_moved ? NULL : dataset->index;
}

void dataset_advise_rebuild(recmap_error *error, const recmap_dataset *dataset,
                            struct rebuild_option option, const char *prefix) {
    index_advise_rebuild(error, index_beside_shards(dataset), option, prefix);
}

void dataset_advise_lift(recmap_error *error, const recmap_dataset *dataset, const char *name,
                         const char *prefix) {
    index_advise_lift(error, index_beside_shards(dataset), name, prefix);
}

/* ---- Inflating. */

static void add_span_statistics(recmap_span_statistics *total, recmap_span_statistics added) {
    total->inflate_count += added.inflate_count;
    total->inflated_size += added.inflated_size;
    total->hit_count += added.hit_count;
    total->evict_count += added.evict_count;
    total->held_size += added.held_size;
}

recmap_span_statistics recmap_dataset_span_statistics(const recmap_dataset *dataset) {
    if (!dataset->part_count) return shard_cache_span_statistics(dataset->shards);
    recmap_span_statistics total = {0};
    for (size_t i = 0; i < dataset->part_count; i++)
        add_span_statistics(&total, recmap_dataset_span_statistics(dataset->parts[i].dataset));
    return total;
}

recmap_cache_statistics recmap_dataset_cache_statistics(const recmap_dataset *dataset) {
    if (!dataset->part_count) return shard_cache_disk_statistics(dataset->shards);
    recmap_cache_statistics total = {0};
    for (size_t i = 0; i < dataset->part_count; i++) {
        recmap_cache_statistics part = recmap_dataset_cache_statistics(dataset->parts[i].dataset);
        total.hit_count += part.hit_count;
        total.miss_count += part.miss_count;
    }
    return total;
}
