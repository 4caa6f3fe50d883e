#include "index/build/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "format/framing/framing.h"
#include "format/shards/shard_source.h"

/* RUN_RECORDS are read at a time. The rest is for the interrupt, in bytes. */
enum { RUN_RECORDS = 1 << 14, RECORD_WORK = 32, SHARD_WORK = 4096, ID_WORK = 32 };

char *replay_shard_path(const struct index_shard *shard, const char *folder) {
    const char *path = shard->entry.path;
    return shard_name_is_absolute(path) ? strdup(path) : path_join(folder, path);
}

/* The value of record `number`, of type NONE if it is null. In the chunks, the default has replaced
 * missing values. Up to the
 * column's first value all values were missing, and they must be missing again: otherwise a default
 * would determine the type of the column before the records do. */
static recmap_status read_column(recmap_value *value, struct index_file *index, size_t c,
                                 uint64_t number, recmap_error *error) {
    struct column_chunk chunk;
    RETURN_IF_FAILED(
        index_column_chunk(&chunk, index, c, (size_t)(number >> COLUMN_CHUNK_SHIFT), error));
    *value = number < index_manifest(index)->columns[c].first_value
                 ? (recmap_value){.type = RECMAP_TYPE_NONE}
                 : column_at(&chunk, (size_t)number & (COLUMN_CHUNK_RECORDS - 1));
    return RECMAP_OK;
}

static recmap_status add_columns(struct record_run *run, struct index_file *index, uint64_t number,
                                 recmap_error *error) {
    for (size_t c = 0; c < run->column_count; c++) {
        recmap_value value;
        RETURN_IF_FAILED(read_column(&value, index, c, number, error));
        if (run_set_column(run, c, &value) == RUN_OK) continue;
        /* Within an index types agree and lengths are bounded, so memory is the only cause left. */
        return fail_memory(error);
    }
    return RECMAP_OK;
}

static recmap_status add_counts(struct record_run *run, struct index_file *index, uint64_t number,
                                recmap_error *error) {
    for (size_t f = 0; f < run->counted_feature_count; f++) {
        uint64_t count;
        RETURN_IF_FAILED(index_read_counts(&count, index, f, number, 1, error));
        if (!run_set_count(run, f, count)) return fail_memory(error);
    }
    return RECMAP_OK;
}

static recmap_status fill_run(struct record_run *run, struct index_file *index, uint64_t first,
                              uint64_t count, uint64_t overhead, recmap_error *error) {
    struct interrupt *interrupt = thread_interrupt();
    uint64_t work = RECORD_WORK * (1 + run->column_count + run->counted_feature_count);
    run_clear(run);
    for (uint64_t number = first; number < first + count; number++) {
        struct index_place place;
        RETURN_IF_FAILED(index_locate(&place, index, number, error));
        /* An index has no CRCs, and in some framings no sizes of payloads. They are not needed,
         * since the identity of the shard, which is computed from them, is known. */
        if (!run_add(run, place.offset, place.frame_size - overhead, 0)) return fail_memory(error);
        RETURN_IF_FAILED(add_columns(run, index, number, error));
        RETURN_IF_FAILED(add_counts(run, index, number, error));
        RETURN_IF_FAILED(interrupt_check(interrupt, work, error));
    }
    return RECMAP_OK;
}

static recmap_status add_records(struct packer *packer, struct record_run *run,
                                 struct index_file *index, const struct index_shard *shard,
                                 recmap_error *error) {
    uint64_t overhead = shard->framing->overhead;
    uint64_t end = shard->first_record + shard->entry.record_count;
    for (uint64_t first = shard->first_record; first < end;) {
        uint64_t count = min_u64(end - first, RUN_RECORDS);
        RETURN_IF_FAILED(fill_run(run, index, first, count, overhead, error));
        RETURN_IF_FAILED(packer_add_run(packer, run, error));
        first += count;
    }
    return RECMAP_OK;
}

static recmap_status begin_shard(struct packer *packer, const struct index_shard *shard,
                                 const char *folder, recmap_error *error) {
    char *path = replay_shard_path(shard, folder);
    if (!path) return fail_memory(error);
    recmap_status status = packer_begin_shard(packer, path, shard->entry.framing, error);
    free(path);
    return status;
}

static recmap_status add_damages(struct packer *packer, struct index_file *index,
                                 const struct index_shard *shard, recmap_error *error) {
    const struct damage_entry *damages = index_damages(index) + shard->first_damage;
    for (uint64_t d = 0; d < shard->entry.damage_count; d++)
        RETURN_IF_FAILED(packer_add_damage(packer, damages[d].offset, damages[d].length,
                                           damages[d].reason, error));
    return RECMAP_OK;
}

static recmap_status end_shard(struct packer *packer, struct index_file *index,
                               const struct index_shard *shard, recmap_error *error) {
    const struct shard_entry *entry = &shard->entry;
    struct point_list points;
    RETURN_IF_FAILED(index_points(&points, index, (size_t)(shard - index_shards(index)), error));
    struct shard_end end = {.file_size = entry->file_size,
                            .start = entry->start,
                            .size = entry->size,
                            .compression = entry->compression,
                            .mtime_ns = entry->mtime_ns,
                            .etag = entry->etag,
                            .tail_size = entry->tail_size,
                            .points = &points};
    recmap_status status = packer_end_shard(packer, &end, &entry->identity, error);
    points_deinit(&points);
    return status;
}

/* Adds one shard: its records, then its damage, then its end, which is the order in which a scan
 * reports them. The identity is copied from the index. */
static recmap_status add_shard(struct packer *packer, struct record_run *run,
                               struct index_file *index, const struct index_shard *shard,
                               const char *folder, recmap_error *error) {
    RETURN_IF_FAILED(begin_shard(packer, shard, folder, error));
    RETURN_IF_FAILED(add_records(packer, run, index, shard, error));
    RETURN_IF_FAILED(add_damages(packer, index, shard, error));
    RETURN_IF_FAILED(end_shard(packer, index, shard, error));
    return interrupt_check(thread_interrupt(), SHARD_WORK, error);
}

static recmap_status add_ids(struct packer *packer, struct index_file *index, uint64_t first_number,
                             recmap_error *error) {
    for (size_t i = 0; i < index_id_chunk_count(index); i++) {
        struct ids_chunk chunk;
        RETURN_IF_FAILED(index_id_chunk(&chunk, index, i, error));
        for (size_t p = 0; p < chunk.pair_count; p++) {
            struct id_pair pair = ids_at(&chunk, p);
            pair.number += first_number;
            RETURN_IF_FAILED(packer_add_id(packer, pair, error));
            RETURN_IF_FAILED(interrupt_check(thread_interrupt(), ID_WORK, error));
        }
    }
    return RECMAP_OK;
}

/* A column that has nulls may get more of them, and so may one that was annotated: records that are
 * added to it later need not have its values. */
static void note_column(struct packer *packer, const struct manifest_column *column, size_t i) {
    if (column->is_annotated) packer_note_annotated(packer, i);
    if (column->is_annotated || column->null_count) packer_allow_nulls(packer, i);
}

void replay_widen(struct packer *packer, const struct index_file *index) {
    const struct manifest *manifest = index_manifest(index);
    for (size_t i = 0; i < manifest->column_count; i++)
        if (manifest->columns[i].type == RECMAP_TYPE_FLOAT64) packer_widen(packer, i);
}

recmap_status replay_index(struct packer *packer, struct index_file *index, const char *folder,
                           recmap_error *error) {
    const struct manifest *manifest = index_manifest(index);
    uint64_t first_number = packer_record_count(packer);
    struct record_run run;
    recmap_status status = RECMAP_OK;
    if (manifest->skips_damage) packer_note_skips(packer);
    if (index_has_parts(index)) packer_note_parts(packer);
    for (size_t i = 0; i < manifest->column_count; i++)
        note_column(packer, &manifest->columns[i], i);
    if (!run_init(&run, false, manifest->column_count, manifest->counted_feature_count))
        status = fail_memory(error);
    for (size_t i = 0; status == RECMAP_OK && i < manifest->shard_count; i++)
        status = add_shard(packer, &run, index, &index_shards(index)[i], folder, error);
    run_deinit(&run);
    return status == RECMAP_OK ? add_ids(packer, index, first_number, error) : status;
}
