#include "dataset/open/concat.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/core/error.h"
#include "base/core/search.h"
#include "parse/text/header.h"

/* ---- Looking up. */

/* The last part whose counter is at most `value`; `second` is the counter of the second part. Empty
 * parts that start at the same value are skipped, because they come before it. */
static const struct dataset_part *part_of(const recmap_dataset *dataset, const uint64_t *second,
                                          uint64_t value) {
    return dataset->parts +
           search_below(second, sizeof *dataset->parts, dataset->part_count - 1, value + 1);
}

const struct dataset_part *concat_part_of_record(const recmap_dataset *dataset, uint64_t number) {
    return part_of(dataset, &dataset->parts[1].first_record, number);
}

const struct dataset_part *concat_part_of_shard(const recmap_dataset *dataset,
                                                uint64_t shard_index) {
    return part_of(dataset, &dataset->parts[1].first_shard, shard_index);
}

const struct dataset_part *concat_part_of_damage(const recmap_dataset *dataset,
                                                 uint64_t damage_index) {
    return part_of(dataset, &dataset->parts[1].first_damage, damage_index);
}

uint64_t concat_part_end(const struct dataset_part *part) {
    return part->first_record + part->dataset->info.record_count;
}

/* ---- Fingerprints. */

/* Adds a part to a fingerprint: the XXH3-128 of both. One part alone keeps its fingerprint. */
static void add_fingerprint(recmap_fingerprint *total, const recmap_fingerprint *addend) {
    uint8_t both[2 * sizeof total->bytes];
    memcpy(both, total->bytes, sizeof total->bytes);
    memcpy(both + sizeof total->bytes, addend->bytes, sizeof addend->bytes);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(both, sizeof both));
    memcpy(total->bytes, canonical.digest, sizeof total->bytes);
}

/* Compares the fingerprints of the shards up to each one that ends at `record_count`: empty shards
 * may follow. `preceding` is the fingerprint of the parts before the data set, or NULL. */
static bool shards_begin_with(const recmap_dataset *dataset, const recmap_fingerprint *preceding,
                              const recmap_fingerprint *fingerprint, uint64_t record_count) {
    size_t count = (size_t)dataset->info.shard_count;
    uint8_t *hashes = malloc(count * IDENTITY_HASH_SIZE + 1);
    recmap_fingerprint first, total;
    bool is_start = false;
    for (size_t i = 0; hashes && i < count && !is_start; i++) {
        const struct index_shard *shard = &dataset->shard_table[i];
        uint64_t end = shard->first_record + shard->entry.record_count;
        if (end > record_count) break;
        memcpy(hashes + i * IDENTITY_HASH_SIZE, shard->entry.identity.hash, IDENTITY_HASH_SIZE);
        if (end < record_count) continue;
        identity_fingerprint(first.bytes, hashes, i + 1);
        total = preceding ? *preceding : first;
        if (preceding) add_fingerprint(&total, &first);
        is_start = !memcmp(&total, fingerprint, sizeof total);
    }
    free(hashes);
    return is_start;
}

/* The last part of a concatenation may have grown: then only its first shards are compared. */
static bool parts_begin_with(const recmap_dataset *dataset, const recmap_fingerprint *fingerprint,
                             uint64_t record_count) {
    recmap_fingerprint total;
    for (size_t i = 0; i < dataset->part_count; i++) {
        const struct dataset_part *part = &dataset->parts[i];
        if (record_count >= part->first_record &&
            shards_begin_with(part->dataset, i ? &total : NULL, fingerprint,
                              record_count - part->first_record))
            return true;
        if (i) add_fingerprint(&total, &part->dataset->info.fingerprint);
        else total = part->dataset->info.fingerprint;
        if (concat_part_end(part) == record_count && !memcmp(&total, fingerprint, sizeof total))
            return true;
    }
    return false;
}

bool dataset_begins_with(const recmap_dataset *dataset, const recmap_fingerprint *fingerprint,
                         uint64_t record_count) {
    const recmap_dataset_info *info = &dataset->info;
    if (info->record_count == record_count &&
        !memcmp(&info->fingerprint, fingerprint, sizeof *fingerprint))
        return true;
    if (dataset->part_count) return parts_begin_with(dataset, fingerprint, record_count);
    return shards_begin_with(dataset, NULL, fingerprint, record_count);
}

/* ---- Creating. */

/* The parts of concatenations become parts themselves. */
static recmap_status set_parts(recmap_dataset *dataset, recmap_dataset *const *parts, size_t count,
                               recmap_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += parts[i]->part_count ? parts[i]->part_count : 1;
    dataset->parts = calloc(total, sizeof *dataset->parts);
    if (!dataset->parts) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        size_t inner_count = parts[i]->part_count;
        for (size_t j = 0; j < inner_count; j++)
            dataset->parts[dataset->part_count++].dataset = parts[i]->parts[j].dataset;
        if (!inner_count) dataset->parts[dataset->part_count++].dataset = parts[i];
    }
    return RECMAP_OK;
}

static void add_info(recmap_dataset_info *total, const recmap_dataset_info *info) {
    total->record_count += info->record_count;
    total->shard_count += info->shard_count;
    total->file_count += info->file_count;
    total->byte_count += info->byte_count;
    total->index_size += info->index_size;
    total->id_count += info->id_count;
    total->damage_count += info->damage_count;
    total->damaged_byte_count += info->damaged_byte_count;
}

/* The name of the ids, if all parts have the same. */
static const char *common_id_name(const recmap_dataset *dataset) {
    const char *name = dataset->parts->dataset->info.id_name;
    for (size_t i = 1; i < dataset->part_count; i++) {
        const char *other = dataset->parts[i].dataset->info.id_name;
        if (!name || !other || strcmp(name, other)) return NULL;
    }
    return name;
}

/* What the parts disagree on becomes what works for all of them: the stricter check, and reading
 * instead of mapping. */
static void add_access(recmap_dataset *dataset, const recmap_dataset *part) {
    if (part->check == FRAME_CHECK_ALL) dataset->check = FRAME_CHECK_ALL;
    if (part->access != dataset->access) dataset->access = RECMAP_ACCESS_READ;
    dataset->evicts_shards |= part->evicts_shards;
    dataset->is_remote |= part->is_remote;
    dataset->outgrows_caches |= part->outgrows_caches;
}

static void add_up(recmap_dataset *dataset) {
    dataset->access = dataset->parts->dataset->access;
    dataset->check = dataset->parts->dataset->check;
    for (size_t i = 0; i < dataset->part_count; i++) {
        struct dataset_part *part = &dataset->parts[i];
        part->first_record = dataset->info.record_count;
        part->first_shard = dataset->info.shard_count;
        part->first_damage = dataset->info.damage_count;
        add_info(&dataset->info, &part->dataset->info);
        if (i) add_fingerprint(&dataset->info.fingerprint, &part->dataset->info.fingerprint);
        else dataset->info.fingerprint = part->dataset->info.fingerprint;
        add_access(dataset, part->dataset);
    }
    dataset->info.access = dataset->access;
    dataset->info.id_name = common_id_name(dataset);
}

static recmap_status check_totals(const recmap_dataset *dataset, recmap_error *error) {
    if (dataset->info.record_count <= (uint64_t)1 << 62 && dataset->info.shard_count < UINT32_MAX)
        return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "the data sets have too many records or shards together");
}

static recmap_status set_shards(recmap_dataset *dataset, recmap_error *error) {
    size_t count = (size_t)dataset->info.shard_count;
    dataset->own_shards = calloc(count + 1, sizeof *dataset->own_shards);
    dataset->framings = calloc(count + 1, sizeof *dataset->framings);
    if (!dataset->own_shards || !dataset->framings) return fail_memory(error);
    for (size_t i = 0; i < dataset->part_count; i++) {
        const struct dataset_part *part = &dataset->parts[i];
        for (size_t j = 0; j < part->dataset->info.shard_count; j++) {
            struct index_shard *shard = &dataset->own_shards[part->first_shard + j];
            *shard = part->dataset->shard_table[j];
            shard->first_record += part->first_record;
            dataset->framings[part->first_shard + j] = shard->framing;
        }
    }
    dataset->shard_table = dataset->own_shards;
    return RECMAP_OK;
}

recmap_type concat_part_type(const struct dataset_part *part, const recmap_lifted_column *column) {
    return part->dataset->info.record_count ? column->type : RECMAP_TYPE_NONE;
}

/* Returns true if values of both types can be in one column: they are equal, NONE, or float and
 * float64. */
static bool types_fit(recmap_type type, recmap_type other) {
    if (type == RECMAP_TYPE_NONE || other == RECMAP_TYPE_NONE || type == other) return true;
    return (type == RECMAP_TYPE_FLOAT && other == RECMAP_TYPE_FLOAT64) ||
           (type == RECMAP_TYPE_FLOAT64 && other == RECMAP_TYPE_FLOAT);
}

/* Finds a column of the first part in all parts, as column `index` of the concatenation. Parts in
 * which it has no values have no type for it, and fit all others. */
static bool find_column(recmap_dataset *dataset, size_t index, const char *name) {
    recmap_type type = RECMAP_TYPE_NONE;
    for (size_t i = 0; i < dataset->part_count; i++) {
        struct dataset_part *part = &dataset->parts[i];
        recmap_lifted_column column;
        size_t *place = &part->columns[index];
        if (recmap_dataset_find_lifted_column(place, part->dataset, name, NULL) != RECMAP_OK ||
            recmap_dataset_get_lifted_column(&column, part->dataset, *place, NULL) != RECMAP_OK)
            return false;
        recmap_type next = concat_part_type(part, &column);
        if (!types_fit(type, next)) return false;
        if (next != RECMAP_TYPE_NONE) type = next;
    }
    return true;
}

static recmap_status set_columns(recmap_dataset *dataset, recmap_error *error) {
    const recmap_dataset *first = dataset->parts->dataset;
    size_t count = first->info.lifted_column_count;
    for (size_t i = 0; i < dataset->part_count; i++) {
        dataset->parts[i].columns = calloc(count, sizeof(size_t));
        if (!dataset->parts[i].columns) return fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        recmap_lifted_column column;
        RETURN_IF_FAILED(recmap_dataset_get_lifted_column(&column, first, i, error));
        if (find_column(dataset, dataset->info.lifted_column_count, column.name))
            dataset->info.lifted_column_count++;
    }
    return RECMAP_OK;
}

/* The header of a part of CSV files. Returns false if the part has no records, or other files. */
static bool find_header(struct text_format *format, const recmap_dataset *part) {
    const struct manifest *manifest = index_manifest(part->index);
    if (!part->info.record_count || !part->shard_table[0].framing->separator) return false;
    *format = text_format_of(part->shard_table[0].framing, manifest->header, manifest->header_size);
    return true;
}

static recmap_status fail_no_header(const recmap_dataset *without, const recmap_dataset *other,
                                    recmap_error *error) {
    fail(error, RECMAP_MISMATCH, "the files have no header line, but those of %s have one",
         dataset_path(other));
    fail_file(error, dataset_path(without));
    fail_advise(error, "concatenate only files with the same fields");
    return RECMAP_MISMATCH;
}

/* One parser reads the records of all parts, so that the fields must have the same names. */
static recmap_status check_headers(const recmap_dataset *dataset, recmap_error *error) {
    struct text_format first, next;
    const recmap_dataset *due = NULL;
    for (size_t i = 0; i < dataset->part_count; i++) {
        const recmap_dataset *part = dataset->parts[i].dataset;
        if (!find_header(due ? &next : &first, part)) continue;
        if (!due) {
            due = part;
            continue;
        }
        if (!next.header && !first.header) continue;
        if (!next.header) return fail_no_header(part, due, error);
        if (!first.header) return fail_no_header(due, part, error);
        if (header_check(&next, &first, dataset_path(due), error) == RECMAP_OK) continue;
        fail_file(error, dataset_path(part));
        return RECMAP_MISMATCH;
    }
    return RECMAP_OK;
}

static recmap_status join_parts(recmap_dataset *dataset, recmap_dataset *const *parts, size_t count,
                                recmap_error *error) {
    RETURN_IF_FAILED(set_parts(dataset, parts, count, error));
    add_up(dataset);
    RETURN_IF_FAILED(check_totals(dataset, error));
    RETURN_IF_FAILED(check_headers(dataset, error));
    RETURN_IF_FAILED(set_shards(dataset, error));
    RETURN_IF_FAILED(set_columns(dataset, error));
    dataset->info.counted_feature_count = concat_counted_feature_count(dataset);
    return RECMAP_OK;
}

recmap_status recmap_dataset_concat(recmap_dataset **dataset, recmap_dataset *const *parts,
                                    size_t count, recmap_error *error) {
    if (!count) return fail(error, RECMAP_INVALID, "there are no data sets to concatenate");
    recmap_dataset *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    recmap_status status = join_parts(fresh, parts, count, error);
    if (status == RECMAP_OK) *dataset = fresh;
    else recmap_dataset_close(fresh);
    return status;
}

void concat_deinit(recmap_dataset *dataset) {
    for (size_t i = 0; i < dataset->part_count; i++) free(dataset->parts[i].columns);
    free(dataset->parts);
    free(dataset->own_shards);
}
