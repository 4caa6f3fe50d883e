#include "set.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/file.h"
#include "measure.h"

void set_shard_path(char path[SET_PATH_SIZE], const char *folder, const char *name, unsigned shard,
                    unsigned shard_count) {
    snprintf(path, SET_PATH_SIZE, "%s/%s/%s-%05u-of-%05u.tfrecord", folder, name, name, shard,
             shard_count);
}

void set_index_path(char path[SET_PATH_SIZE], const char *folder, const char *name,
                    const char *suffix) {
    snprintf(path, SET_PATH_SIZE, "%s/%s%s.rmx", folder, name, suffix);
}

bool set_find(recmap_shards **shards, const char *folder, const char *name) {
    recmap_error error = RECMAP_ERROR_INIT;
    char path[SET_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct file_stat stat;
    if (!file_stat_path(&stat, path)) return false;
    must(recmap_shards_create(shards, &error), &error);
    must(recmap_shards_add(*shards, path, &error), &error);
    return true;
}

/* Builds the index of a set and returns the time taken. Finding the shards is not part of the time.
 * */
uint64_t set_build(recmap_index_summary *summary, const char *folder, const char *name,
                   const char *path, const recmap_index_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_shards *shards;
    if (!set_find(&shards, folder, name)) {
        fprintf(stderr, "bench: there is no set %s in %s\n", name, folder);
        exit(2);
    }
    uint64_t start = now_ns();
    recmap_index_builder *builder;
    must(recmap_index_builder_create(&builder, path, options, &error), &error);
    for (size_t i = 0; i < recmap_shards_count(shards); i++)
        must(recmap_index_builder_add_shard(builder, recmap_shards_path(shards, i), &error),
             &error);
    must(recmap_index_builder_finish(summary, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    uint64_t took = now_ns() - start;
    recmap_shards_destroy(shards);
    return took;
}

recmap_dataset *set_open(const char *folder, const char *name, bool with_ids,
                         const recmap_dataset_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options building = RECMAP_INDEX_OPTIONS_INIT;
    char path[SET_PATH_SIZE];
    struct file_stat stat;
    set_index_path(path, folder, name, with_ids ? "-ids" : "");
    if (with_ids) building.id_feature = "id";
    if (!file_stat_path(&stat, path)) set_build(NULL, folder, name, path, &building);
    recmap_dataset *dataset;
    must(recmap_dataset_open(&dataset, path, options, &error), &error);
    return dataset;
}
