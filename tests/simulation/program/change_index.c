/* Roles that change an index: building, merging, appending, annotating, writing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/program/program.h"
#include "simulation/world/model.h"
#include "simulation/world/oracle.h"
#include "simulation/world/report.h"

static int maybe_cancel(const recmap_progress *progress, void *context) {
    struct actor *actor = context;
    (void)progress;
    bool stops = random_once_in(&actor->choices, 8);
    actor->has_stopped |= stops;
    return stops;
}

static recmap_index_options options_of(struct actor *actor) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.thread_count = actor->role->thread_count;
    options.id_feature = "id";
    options.inherits = 1;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    options.reads_shards = actor->role->reads_shards;
    if (actor->role->may_cancel) {
        options.progress = maybe_cancel;
        options.progress_context = actor;
    }
    return options;
}

static void begin(struct actor *actor, struct change *change) {
    actor->has_stopped = false;
    oracle_begin(actor->role->process, change);
}

static void end(struct actor *actor, recmap_status status, const recmap_error *error) {
    if (status == RECMAP_CANCELLED && !actor->has_stopped)
        run_fail("a call is cancelled that nobody told to stop");
    oracle_end(actor->role->process, (int)status, error->message);
}

/* ---- Building and appending. */

/* Builds an index of shards after those of the indexes `parts`. */
static recmap_status build(struct actor *actor, const char *path, char parts[][PATH_SPACE],
                           unsigned part_count, const uint8_t *shards, unsigned shard_count,
                           recmap_error *error) {
    recmap_index_options options = options_of(actor);
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, path, &options, error);
    for (unsigned i = 0; status == RECMAP_OK && i < part_count; i++)
        status = recmap_index_builder_add_index(builder, parts[i], error);
    for (unsigned i = 0; status == RECMAP_OK && i < shard_count; i++)
        status = recmap_index_builder_add_shard(builder, model_shards[shards[i]].path, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

static void build_index(struct actor *actor) {
    const struct role *role = actor->role;
    recmap_error error = RECMAP_ERROR_INIT;
    struct change change = {
        .kind = ROLE_BUILD, .index = role->index, .shard_count = role->shard_count};
    memcpy(change.shards, role->shards, sizeof change.shards);
    begin(actor, &change);
    recmap_status status =
        build(actor, role->index, NULL, 0, role->shards, role->shard_count, &error);
    end(actor, status, &error);
}

static void append_shard(struct actor *actor, unsigned i) {
    const struct role *role = actor->role;
    char part[1][PATH_SPACE];
    recmap_error error = RECMAP_ERROR_INIT;
    struct change change = {
        .kind = ROLE_APPEND, .index = role->index, .shards = {role->shards[i]}, .shard_count = 1};
    snprintf(part[0], PATH_SPACE, "%s", role->index);
    begin(actor, &change);
    recmap_status status = build(actor, role->index, part, 1, &role->shards[i], 1, &error);
    end(actor, status, &error);
}

static bool build_part(struct actor *actor, const char *path, const uint8_t *shards,
                       unsigned shard_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct change change = {.kind = ROLE_BUILD, .index = path, .shard_count = shard_count};
    memcpy(change.shards, shards, shard_count);
    begin(actor, &change);
    recmap_status status = build(actor, path, NULL, 0, shards, shard_count, &error);
    end(actor, status, &error);
    return status == RECMAP_OK;
}

static void merge(struct actor *actor) {
    const struct role *role = actor->role;
    char parts[2][PATH_SPACE];
    recmap_error error = RECMAP_ERROR_INIT;
    unsigned half = role->shard_count / 2;
    for (unsigned i = 0; i < 2; i++)
        snprintf(parts[i], PATH_SPACE, "/data/part%u-%u.rmx", role->rank, i);
    if (!half || !build_part(actor, parts[0], role->shards, half) ||
        !build_part(actor, parts[1], role->shards + half, role->shard_count - half))
        return;
    struct change change = {
        .kind = ROLE_MERGE, .index = role->index, .shard_count = role->shard_count};
    memcpy(change.shards, role->shards, sizeof change.shards);
    begin(actor, &change);
    recmap_status status = build(actor, role->index, parts, 2, NULL, 0, &error);
    end(actor, status, &error);
}

/* ---- Annotating. */

static recmap_status add_rows(recmap_annotation *annotation, const struct index_state *state,
                              unsigned column, recmap_error *error) {
    char name[8];
    snprintf(name, sizeof name, "c%u", column);
    recmap_status status =
        recmap_annotation_add_column(annotation, name, RECMAP_TYPE_INT64, "-5", error);
    for (uint64_t i = 0; status == RECMAP_OK && i < state->record_count; i++) {
        unsigned shard, number;
        oracle_locate(&shard, &number, state, i);
        recmap_value key = {.type = RECMAP_TYPE_INT64, .as = {.int64 = (int64_t)i}};
        recmap_value value = {.type = RECMAP_TYPE_INT64,
                              .as = {.int64 = model_value(column, shard, number)}};
        status = recmap_annotation_add_rows(annotation, RECMAP_KEY_NUMBER, &key, &value, 1, error);
    }
    return status;
}

static void annotate(struct actor *actor, unsigned column) {
    const struct index_state *state;
    recmap_annotation *annotation = NULL;
    recmap_annotation_options options = RECMAP_ANNOTATION_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    struct change change = {.kind = ROLE_ANNOTATE, .index = actor->role->index, .column = column};
    if (actor->role->may_cancel) {
        options.progress = maybe_cancel;
        options.progress_context = actor;
    }
    recmap_dataset *dataset = actor_open(actor, &state);
    if (!dataset) return;
    begin(actor, &change);
    recmap_status status = recmap_annotation_create(&annotation, dataset, &options, &error);
    if (status == RECMAP_OK) status = add_rows(annotation, state, column, &error);
    if (status == RECMAP_OK) status = recmap_annotation_finish(annotation, &error);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    end(actor, status, &error);
}

/* ---- Writing. */

/* Writes a copy of a shard, which the model does not know, and its index. */
static void write_shard(struct actor *actor, unsigned i) {
    static uint8_t record[RECORD_SIZE_MAX];
    const struct role *role = actor->role;
    recmap_index_options index = options_of(actor);
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    recmap_writer *writer = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    char path[PATH_SPACE], index_path[PATH_SPACE];
    unsigned shard = role->shards[i];
    snprintf(path, sizeof path, "/data/written%u-%u.tfrecord", role->rank, i);
    snprintf(index_path, sizeof index_path, "/data/written%u-%u.rmx", role->rank, i);
    struct change change = {
        .kind = ROLE_WRITE, .index = index_path, .shards = {(uint8_t)shard}, .shard_count = 1};
    options.index_path = index_path;
    options.index = &index;
    begin(actor, &change);
    recmap_status status = recmap_writer_create(&writer, path, &options, &error);
    for (unsigned k = 0; status == RECMAP_OK && k < model_shards[shard].record_count; k++) {
        size_t size = model_record(record, shard, k);
        status = recmap_writer_write(writer, record, size, &error);
    }
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, &error);
    recmap_writer_destroy(writer);
    end(actor, status, &error);
}

void actor_change_index(struct actor *actor) {
    const struct role *role = actor->role;
    for (unsigned i = 0; i < role->rounds; i++) {
        switch (role->kind) {
        case ROLE_BUILD: build_index(actor); break;
        case ROLE_MERGE: merge(actor); break;
        case ROLE_APPEND: append_shard(actor, i); break;
        case ROLE_ANNOTATE: annotate(actor, role->first_column + i); break;
        default: write_shard(actor, i); break;
        }
    }
}
