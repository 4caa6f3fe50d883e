#include "index/build/packer.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"
#include "index/build/column_stage.h"
#include "index/build/count_stage.h"
#include "index/build/idsort.h"
#include "index/tables/manifest.h"
#include "index/tables/offsets.h"

enum { RECORD_WORK = 32 /* for the interrupt, in bytes */ };

struct packer {
    char *folder; /* of the index, resolved: shards are named relative to it */
    struct store_writer *store;
    struct manifest manifest;
    struct shard_entry *shards;
    size_t shard_capacity;
    uint64_t shard_base; /* of the current shard, in the concatenation of all */
    struct identity_builder *identity;
    uint64_t offset_chunk;
    size_t staged; /* offsets collected for the next chunk */
    uint64_t *offsets;
    uint32_t *offset_shards;
    uint8_t *packed;
    struct column_stage **stages;
    uint64_t are_annotated; /* a bit for each column */
    size_t stage_count;
    uint64_t column_chunk;
    struct count_stage **count_stages;
    size_t count_stage_count;
    uint64_t count_chunk;
    struct idsort *ids;
    uint64_t old_record_count; /* of the index that is appended to */
    uint64_t repeated_id_count;
    char id_advice[RUN_ADVICE_SIZE]; /* of the first run that has one */
    struct damage_entry *damages; /* not yet written: less than a table, and the current shard's */
    size_t damage_count;
    size_t damage_capacity;
    uint64_t damage_table;
    uint64_t points_value;
};

static bool create_stages(struct packer *packer, const recmap_index_options *options) {
    packer->stages = calloc(options->lift_count + 1, sizeof *packer->stages);
    packer->count_stages = calloc(options->counted_feature_count + 1, sizeof *packer->count_stages);
    if (!packer->stages || !packer->count_stages) return false;
    for (; packer->stage_count < options->lift_count; packer->stage_count++) {
        struct column_stage *stage = column_stage_create(&options->lifts[packer->stage_count]);
        if (!stage) return false;
        packer->stages[packer->stage_count] = stage;
    }
    for (; packer->count_stage_count < options->counted_feature_count;
         packer->count_stage_count++) {
        size_t i = packer->count_stage_count;
        packer->count_stages[i] = count_stage_create(&options->counted_features[i]);
        if (!packer->count_stages[i]) return false;
    }
    return true;
}

static bool allocate_parts(struct packer *packer, const recmap_index_options *options) {
    packer->identity = identity_create();
    packer->offsets = malloc(OFFSETS_CHUNK_RECORDS * sizeof *packer->offsets);
    packer->offset_shards = malloc(OFFSETS_CHUNK_RECORDS * sizeof *packer->offset_shards);
    packer->packed = malloc(offsets_capacity(OFFSETS_CHUNK_RECORDS));
    if (!packer->identity || !packer->offsets || !packer->offset_shards || !packer->packed ||
        !create_stages(packer, options))
        return false;
    if (options->id_feature) packer->manifest.id_name = strdup(options->id_feature);
    return packer->manifest.id_name || !options->id_feature;
}

static recmap_status prepare(struct packer *packer, const char *path,
                             const recmap_index_options *options,
                             enum temporary_leftovers leftovers, recmap_error *error) {
    RETURN_IF_FAILED(path_resolve_parent(&packer->folder, path, error));
    if (!allocate_parts(packer, options)) return fail_memory(error);
    if (options->id_feature) RETURN_IF_FAILED(idsort_create(&packer->ids, path, error));
    return store_writer_create(&packer->store, path, leftovers, error);
}

recmap_status packer_create(struct packer **packer, const char *path,
                            const recmap_index_options *options, enum temporary_leftovers leftovers,
                            recmap_error *error) {
    struct packer *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->manifest.format_version = 1;
    fresh->manifest.extracted_by_caller = options->lift != NULL;
    fresh->manifest.skips_damage = options->on_bad_record == RECMAP_ON_BAD_RECORD_SKIP;
    recmap_status status = prepare(fresh, path, options, leftovers, error);
    if (status == RECMAP_OK) *packer = fresh;
    else packer_destroy(fresh);
    return status;
}

bool packer_set_header(struct packer *packer, const char *header, size_t size) {
    char *copy = malloc(size + 1);
    if (!copy) return false;
    memcpy(copy, header, size);
    copy[size] = 0;
    free(packer->manifest.header);
    packer->manifest.header = copy;
    packer->manifest.header_size = size;
    return true;
}

/* Removes the first `count` damages. */
static void remove_damages(struct packer *packer, size_t count) {
    for (size_t i = 0; i < count; i++) free(packer->damages[i].reason);
    packer->damage_count -= count;
    memmove(packer->damages, packer->damages + count,
            packer->damage_count * sizeof *packer->damages);
}

/* A packer may be destroyed at any stage: members that were never set are NULL or empty. */
void packer_destroy(struct packer *packer) {
    if (!packer) return;
    store_writer_destroy(packer->store);
    idsort_destroy(packer->ids);
    identity_destroy(packer->identity);
    for (size_t i = 0; packer->shards && i < packer->manifest.shard_count; i++)
        shard_entry_deinit(&packer->shards[i]);
    free(packer->shards);
    if (packer->damages) remove_damages(packer, packer->damage_count);
    free(packer->damages);
    for (size_t i = 0; i < packer->stage_count; i++) column_stage_destroy(packer->stages[i]);
    for (size_t i = 0; i < packer->count_stage_count; i++)
        count_stage_destroy(packer->count_stages[i]);
    free(packer->stages);
    free(packer->count_stages);
    manifest_deinit(&packer->manifest);
    free(packer->offsets);
    free(packer->offset_shards);
    free(packer->packed);
    free(packer->folder);
    free(packer);
}

uint64_t packer_record_count(const struct packer *packer) {
    return packer->manifest.record_count;
}

void packer_note_skips(struct packer *packer) {
    packer->manifest.skips_damage = true;
}

void packer_note_parts(struct packer *packer) {
    if (packer->manifest.format_version < INDEX_FORMAT_PARTS)
        packer->manifest.format_version = INDEX_FORMAT_PARTS;
}

void packer_allow_nulls(struct packer *packer, size_t column) {
    column_stage_allow_nulls(packer->stages[column]);
}

void packer_widen(struct packer *packer, size_t column) {
    column_stage_widen(packer->stages[column]);
}

void packer_note_annotated(struct packer *packer, size_t column) {
    assert(column < packer->stage_count && column < 64);
    packer->are_annotated |= UINT64_C(1) << column;
}

/* The name of a shard in the index. If the shard is inside the index's folder, it is the relative
 * path, so that both can be moved together; otherwise it is the absolute path or the URL. */
static const char *shard_name(const struct packer *packer, const char *path) {
    size_t size = strlen(packer->folder);
    if (url_is_url(path)) return path;
    if (size == 1) return path + 1; /* the folder is "/" */
    return !strncmp(path, packer->folder, size) && path[size] == '/' ? path + size + 1 : path;
}

static struct shard_entry *current_shard(struct packer *packer) {
    assert(packer->manifest.shard_count);
    return &packer->shards[packer->manifest.shard_count - 1];
}

recmap_status packer_begin_shard(struct packer *packer, const char *path, const char *framing,
                                 recmap_error *error) {
    size_t count = (size_t)packer->manifest.shard_count;
    if (count == UINT32_MAX) return fail(error, RECMAP_INVALID, "too many shards: 2^32");
    if (!array_reserve(&packer->shards, &packer->shard_capacity, count + 1, sizeof *packer->shards))
        return fail_memory(error);
    struct shard_entry shard = {
        .path = strdup(shard_name(packer, path)), .framing = strdup(framing), .etag = strdup("")};
    if (!shard.path || !shard.framing || !shard.etag) {
        shard_entry_deinit(&shard);
        return fail_memory(error);
    }
    packer->shards[count] = shard;
    packer->manifest.shard_count++;
    identity_reset(packer->identity);
    return RECMAP_OK;
}

static recmap_status flush_offsets(struct packer *packer, recmap_error *error) {
    if (!packer->staged) return RECMAP_OK;
    size_t size =
        offsets_pack(packer->packed, packer->offsets, packer->offset_shards, packer->staged);
    packer->staged = 0;
    return store_writer_put(packer->store, STORE_OFFSETS,
                            (struct store_key){packer->offset_chunk++, 0}, packer->packed, size,
                            error);
}

/* Puts a value and frees it. NULL means that memory was out when it was encoded. */
static recmap_status put_packed(struct packer *packer, enum store_table table, struct store_key key,
                                uint8_t *bytes, size_t size, recmap_error *error) {
    if (!bytes) return fail_memory(error);
    recmap_status status = store_writer_put(packer->store, table, key, bytes, size, error);
    free(bytes);
    return status;
}

static recmap_status flush_columns(struct packer *packer, recmap_error *error) {
    if (!packer->stage_count || !column_stage_count(packer->stages[0])) return RECMAP_OK;
    for (size_t i = 0; i < packer->stage_count; i++) {
        size_t size;
        uint8_t *bytes = column_stage_pack(packer->stages[i], &size);
        if (bytes && column_format_version(bytes, size) > packer->manifest.format_version)
            packer->manifest.format_version = column_format_version(bytes, size);
        RETURN_IF_FAILED(put_packed(packer, STORE_COLUMNS,
                                    (struct store_key){packer->column_chunk, (uint32_t)i}, bytes,
                                    size, error));
    }
    packer->column_chunk++;
    return RECMAP_OK;
}

static recmap_status add_columns(struct packer *packer, const struct record_run *run, size_t i,
                                 recmap_error *error) {
    for (size_t c = 0; c < packer->stage_count; c++) {
        recmap_value value = run_column_at(run, c, i);
        RETURN_IF_FAILED(column_stage_add(packer->stages[c], &value, run_advice_at(run, i), error));
    }
    if (packer->stage_count && column_stage_is_full(packer->stages[0]))
        return flush_columns(packer, error);
    return RECMAP_OK;
}

static recmap_status flush_counts(struct packer *packer, recmap_error *error) {
    if (!packer->count_stage_count || !count_stage_count(packer->count_stages[0])) return RECMAP_OK;
    for (size_t i = 0; i < packer->count_stage_count; i++) {
        size_t size;
        uint8_t *bytes = count_stage_pack(packer->count_stages[i], &size);
        RETURN_IF_FAILED(put_packed(packer, STORE_COUNTS,
                                    (struct store_key){packer->count_chunk, (uint32_t)i}, bytes,
                                    size, error));
    }
    packer->count_chunk++;
    return RECMAP_OK;
}

static recmap_status add_counts(struct packer *packer, const struct record_run *run, size_t i,
                                recmap_error *error) {
    for (size_t f = 0; f < packer->count_stage_count; f++)
        count_stage_add(packer->count_stages[f], run->counts[f].values[i]);
    if (packer->count_stage_count && count_stage_is_full(packer->count_stages[0]))
        return flush_counts(packer, error);
    return RECMAP_OK;
}

static recmap_status add_record(struct packer *packer, const struct record_run *run, size_t i,
                                recmap_error *error) {
    identity_add(packer->identity, run->offsets[i], run->sizes[i], run->checks[i]);
    assert(packer->staged < OFFSETS_CHUNK_RECORDS);
    packer->offsets[packer->staged] = packer->shard_base + run->offsets[i];
    packer->offset_shards[packer->staged] = (uint32_t)(packer->manifest.shard_count - 1);
    uint64_t number = packer->manifest.record_count++;
    if (++packer->staged == OFFSETS_CHUNK_RECORDS) RETURN_IF_FAILED(flush_offsets(packer, error));
    if (run->has_ids && run->ids[i] != IDS_NONE)
        RETURN_IF_FAILED(idsort_add(packer->ids, (struct id_pair){run->ids[i], number}, error));
    RETURN_IF_FAILED(add_columns(packer, run, i, error));
    return add_counts(packer, run, i, error);
}

recmap_status packer_add_run(struct packer *packer, const struct record_run *run,
                             recmap_error *error) {
    struct interrupt *interrupt = thread_interrupt();
    uint64_t work = RECORD_WORK * (1 + packer->stage_count + packer->count_stage_count);
    if (!packer->id_advice[0]) memcpy(packer->id_advice, run->id_advice, sizeof run->id_advice);
    for (size_t i = 0; i < run->count; i++) {
        recmap_status status = add_record(packer, run, i, error);
        if (status == RECMAP_OK) status = interrupt_check(interrupt, work, error);
        if (status == RECMAP_OK) continue;
        if (status == RECMAP_FEATURE || status == RECMAP_INVALID)
            fail_at(error, NULL, packer->manifest.record_count - 1, run->offsets[i]);
        return status;
    }
    current_shard(packer)->record_count += run->count;
    return RECMAP_OK;
}

/* Puts the first `count` damages as one table. */
static recmap_status put_damages(struct packer *packer, size_t count, recmap_error *error) {
    size_t size;
    uint8_t *bytes = damages_encode(&size, packer->damages, count);
    remove_damages(packer, count);
    return put_packed(packer, STORE_DAMAGE, (struct store_key){packer->damage_table++, 0}, bytes,
                      size, error);
}

/* Full tables are put at the end of a shard only. The order in which values are put determines the
 * bytes of the file, so it must not depend on how the shard was cut into segments. */
static recmap_status put_full_damages(struct packer *packer, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    while (status == RECMAP_OK && packer->damage_count >= DAMAGES_PER_TABLE)
        status = put_damages(packer, DAMAGES_PER_TABLE, error);
    return status;
}

static recmap_status flush_damages(struct packer *packer, recmap_error *error) {
    return packer->damage_count ? put_damages(packer, packer->damage_count, error) : RECMAP_OK;
}

recmap_status packer_add_damage(struct packer *packer, uint64_t offset, uint64_t length,
                                const char *reason, recmap_error *error) {
    if (!array_reserve(&packer->damages, &packer->damage_capacity, packer->damage_count + 1,
                       sizeof *packer->damages))
        return fail_memory(error);
    char *copy = strndup(reason, REASON_MAX);
    if (!copy) return fail_memory(error);
    packer->damages[packer->damage_count++] =
        (struct damage_entry){packer->manifest.shard_count - 1, offset, length, copy};
    packer->manifest.damage_count++;
    packer->manifest.damaged_byte_count += length;
    current_shard(packer)->damage_count++;
    return RECMAP_OK;
}

static recmap_status put_points(struct packer *packer, const struct point_list *points,
                                recmap_error *error) {
    size_t value_count = points_value_count(points->count);
    for (size_t value = 0; value < value_count; value++) {
        size_t first = value * POINTS_PER_VALUE, left = points->count - first, size;
        uint8_t *bytes =
            points_encode(&size, points, first, left < POINTS_PER_VALUE ? left : POINTS_PER_VALUE);
        RETURN_IF_FAILED(put_packed(packer, STORE_POINTS,
                                    (struct store_key){packer->points_value++, 0}, bytes, size,
                                    error));
    }
    return RECMAP_OK;
}

void packer_restrict(struct packer *packer, const struct file_stat *source) {
    store_writer_restrict(packer->store, source);
}

/* Completes the shard's entry, which is written with all others at the end. Its seek points and
 * full chunks of damage are written now, so that memory need not hold them for all shards. */
recmap_status packer_end_shard(struct packer *packer, const struct shard_end *end,
                               const struct shard_identity *identity, recmap_error *error) {
    struct shard_entry *shard = current_shard(packer);
    packer_restrict(packer, &end->stat);
    shard->file_size = end->file_size;
    shard->size = end->size;
    shard->start = end->start;
    shard->compression = end->compression;
    shard->mtime_ns = end->mtime_ns;
    free(shard->etag);
    if (!(shard->etag = strdup(end->etag))) return fail_memory(error);
    shard->tail_size = end->tail_size;
    shard->point_count = end->points ? end->points->count : 0;
    shard->identity = identity ? *identity : identity_finish(packer->identity, end->size);
    packer->shard_base += end->size;
    packer->manifest.byte_count += end->file_size - end->start;
    if (packer->shard_base < end->size || packer->shard_base >> 62)
        return fail(error, RECMAP_INVALID, "the shards together are larger than 2^62 bytes");
    if (end->compression != COMPRESSION_NONE)
        RETURN_IF_FAILED(put_points(packer, end->points, error));
    return put_full_damages(packer, error);
}

recmap_status packer_add_id(struct packer *packer, struct id_pair pair, recmap_error *error) {
    return idsort_add(packer->ids, pair, error);
}

void packer_note_old_records(struct packer *packer) {
    packer->old_record_count = packer->manifest.record_count;
}

/* How many old records have an id. */
struct id_holders {
    uint64_t hash, old_count;
};

/* Counts the new records that have the id of one old record. If several old records have it, ids
 * repeat on purpose, or this was said when they were added. Of pairs with one hash, old records are
 * first. */
static void count_repeated(struct packer *packer, struct id_holders *holders,
                           const struct id_pair *pairs, size_t count) {
    for (size_t i = 0; packer->old_record_count && i < count; i++) {
        bool is_old = pairs[i].number < packer->old_record_count;
        if (pairs[i].hash != holders->hash) *holders = (struct id_holders){pairs[i].hash, 0};
        if (is_old) holders->old_count++;
        else packer->repeated_id_count += holders->old_count == 1;
    }
}

/* Puts the sorted pairs in chunks, and collects the first hash of each chunk: the fences. */
static recmap_status put_id_chunks(struct packer *packer, struct id_pair *pairs, uint8_t *bytes,
                                   uint8_t **fences, size_t *fence_count, recmap_error *error) {
    unsigned number_size = ids_number_size(packer->manifest.record_count);
    size_t capacity = 0;
    struct id_holders holders = {UINT64_MAX, 0}; /* a hash has 48 bits */
    for (uint64_t chunk = 0;; chunk++) {
        size_t count;
        recmap_status status = idsort_next(packer->ids, pairs, IDS_CHUNK_PAIRS, &count, error);
        if (status != RECMAP_OK || !count) return status;
        if (!array_reserve(fences, &capacity, (*fence_count + 1) * 8, 1)) return fail_memory(error);
        store64(*fences + *fence_count * 8, pairs[0].hash);
        ++*fence_count;
        count_repeated(packer, &holders, pairs, count);
        ids_pack(bytes, pairs, count, number_size);
        RETURN_IF_FAILED(store_writer_put(packer->store, STORE_IDS, (struct store_key){chunk, 0},
                                          bytes, ids_packed_size(count, number_size), error));
    }
}

recmap_status packer_check_ids(const struct packer *packer, recmap_error *error) {
    const struct manifest *manifest = &packer->manifest;
    if (!packer->ids || !manifest->record_count || idsort_count(packer->ids) ||
        manifest->extracted_by_caller)
        return RECMAP_OK;
    fail(error, RECMAP_FEATURE,
         "no record has the feature \"%s\", which should be the id; no index was written",
         manifest->id_name);
    if (packer->id_advice[0]) fail_advise(error, "%s", packer->id_advice);
    else fail_advise(error, "choose a feature that has values: `recmap schema` lists them");
    return RECMAP_FEATURE;
}

/* Sorts the pairs and puts them in chunks, followed by the fences. The number of records must be
 * final, since it determines the width of a pair. */
static recmap_status put_ids(struct packer *packer, recmap_error *error) {
    if (!packer->ids) return RECMAP_OK;
    packer->manifest.id_count = idsort_count(packer->ids);
    recmap_status status = idsort_finish(packer->ids, error);
    if (status != RECMAP_OK) return status;
    struct id_pair *pairs = malloc(IDS_CHUNK_PAIRS * sizeof *pairs);
    uint8_t *bytes = malloc(ids_packed_size(IDS_CHUNK_PAIRS, 8));
    uint8_t *fences = NULL;
    size_t fence_count = 0;
    if (!pairs || !bytes) status = fail_memory(error);
    if (status == RECMAP_OK)
        status = put_id_chunks(packer, pairs, bytes, &fences, &fence_count, error);
    if (status == RECMAP_OK)
        status = store_writer_put(packer->store, STORE_IDS, (struct store_key){IDS_FENCES_CHUNK, 0},
                                  fences, fence_count * 8, error);
    free(fences);
    free(bytes);
    free(pairs);
    return status;
}

static recmap_status put_shards(struct packer *packer, recmap_error *error) {
    size_t count = (size_t)packer->manifest.shard_count;
    for (size_t first = 0; first < count; first += SHARDS_PER_TABLE) {
        size_t here = count - first < SHARDS_PER_TABLE ? count - first : SHARDS_PER_TABLE;
        size_t size;
        uint8_t *bytes = shards_encode(&size, packer->shards + first, here);
        RETURN_IF_FAILED(put_packed(packer, STORE_SHARDS,
                                    (struct store_key){first / SHARDS_PER_TABLE, 0}, bytes, size,
                                    error));
    }
    return RECMAP_OK;
}

static recmap_status set_fingerprint(struct packer *packer, recmap_error *error) {
    size_t count = (size_t)packer->manifest.shard_count;
    uint8_t *hashes = malloc(count * IDENTITY_HASH_SIZE + 1);
    if (!hashes) return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        memcpy(hashes + i * IDENTITY_HASH_SIZE, packer->shards[i].identity.hash,
               IDENTITY_HASH_SIZE);
    identity_fingerprint(packer->manifest.fingerprint, hashes, count);
    free(hashes);
    return RECMAP_OK;
}

/* Copies what the stages know of their columns into the manifest. False if memory is out. */
static bool copy_columns(struct packer *packer) {
    struct manifest *manifest = &packer->manifest;
    size_t count = packer->stage_count;
    assert(!manifest->columns);
    manifest->columns = calloc(count + 1, sizeof *manifest->columns);
    if (!manifest->columns) return false;
    for (; manifest->column_count < count; manifest->column_count++) {
        const struct column_stage *stage = packer->stages[manifest->column_count];
        struct manifest_column *column = &manifest->columns[manifest->column_count];
        const char *default_value = column_stage_default(stage);
        *column = (struct manifest_column){
            .name = strdup(column_stage_name(stage)),
            .default_value = default_value ? strdup(default_value) : NULL,
            .type = column_stage_type(stage),
            .first_value = column_stage_first_value(stage),
            .is_annotated = packer->are_annotated >> manifest->column_count & 1,
            .null_count = column_stage_null_count(stage),
        };
        if (column->name && (column->default_value || !default_value)) continue;
        manifest->column_count++; /* so that manifest_deinit frees what was copied */
        return false;
    }
    return true;
}

static bool copy_counted(struct packer *packer) {
    struct manifest *manifest = &packer->manifest;
    size_t count = packer->count_stage_count;
    manifest->counted_features = calloc(count + 1, sizeof *manifest->counted_features);
    if (!manifest->counted_features) return false;
    for (; manifest->counted_feature_count < count; manifest->counted_feature_count++) {
        const struct count_stage *stage = packer->count_stages[manifest->counted_feature_count];
        char *name = strdup(count_stage_name(stage));
        if (!name) return false;
        manifest->counted_features[manifest->counted_feature_count] =
            (struct manifest_counted){name, count_stage_element(stage)};
    }
    return true;
}

static recmap_status put_manifest(struct packer *packer, recmap_error *error) {
    struct manifest *manifest = &packer->manifest;
    RETURN_IF_FAILED(set_fingerprint(packer, error));
    if (!copy_columns(packer) || !copy_counted(packer)) return fail_memory(error);
    size_t size;
    uint8_t *bytes = manifest_encode(&size, manifest);
    return put_packed(packer, STORE_MANIFEST, (struct store_key){0, 0}, bytes, size, error);
}

/* Bit i is set if no record has elements of counted feature i. */
static uint64_t empty_counts(const struct packer *packer) {
    uint64_t empty = 0;
    for (size_t i = 0; i < packer->count_stage_count; i++)
        empty |= (uint64_t)!count_stage_has_elements(packer->count_stages[i]) << i;
    return empty;
}

/* Bit i is set if no record has a value of lifted feature i, so that all have the default. */
static uint64_t empty_lifts(const struct packer *packer) {
    uint64_t empty = 0;
    for (size_t i = 0; i < packer->stage_count; i++)
        empty |= (uint64_t)!column_stage_has_values(packer->stages[i]) << i;
    return empty;
}

/* The order of the parts is part of the format: it determines the bytes of the file. */
recmap_status packer_finish(struct packer *packer, store_publish_check before_publish,
                            void *context, recmap_index_summary *summary, recmap_error *error) {
    recmap_status (*const parts[])(struct packer *, recmap_error *) = {
        flush_offsets, flush_columns, flush_counts, put_ids,
        flush_damages, put_shards,    put_manifest,
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        RETURN_IF_FAILED(parts[i](packer, error));
    const struct manifest *manifest = &packer->manifest;
    if (summary)
        *summary = (recmap_index_summary){
            .record_count = manifest->record_count,
            .byte_count = manifest->byte_count,
            .id_count = manifest->id_count,
            .damage_count = manifest->damage_count,
            .damaged_byte_count = manifest->damaged_byte_count,
            .empty_counted_features = empty_counts(packer),
            .empty_lifted_features = empty_lifts(packer),
            .repeated_id_count = packer->repeated_id_count,
        };
    return store_writer_finish(packer->store, before_publish, context, error);
}
