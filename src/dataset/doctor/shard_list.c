#include "dataset/doctor/shard_list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"

/* The frame of a TFRecord: length, two checksums. */
enum { TFRECORD_FRAME = 16 };

static recmap_status reserve(struct shard_list *list, size_t count, recmap_error *error) {
    list->shards = calloc(count + 1, sizeof *list->shards);
    list->entries = calloc(count + 1, sizeof *list->entries);
    return list->shards && list->entries ? RECMAP_OK : fail_memory(error);
}

/* ---- Shards of an index. */

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Only the frames of plain TFRecords have a known size. */
static uint64_t payload_size(const recmap_shard_info *info) {
    bool is_plain = !strcmp(info->framing, "tfrecord") && !strcmp(info->compression, "none");
    uint64_t frames = info->record_count * TFRECORD_FRAME;
    return is_plain && frames <= info->size ? info->size - frames : COUNT_UNKNOWN;
}

static void add_part(struct listed_shard *shard, const recmap_shard_info *info) {
    uint64_t payload = payload_size(info);
    shard->record_count += info->record_count;
    shard->byte_count += info->size;
    if (payload == COUNT_UNKNOWN || shard->payload_size == COUNT_UNKNOWN)
        shard->payload_size = COUNT_UNKNOWN;
    else shard->payload_size += payload;
}

/* Finds the shards whose paths are sorted, with their places in the list after them. */
struct path_place {
    char *path; /* first, for compare_paths */
    size_t shard;
};

static size_t find_grown(const struct path_place *places, size_t count, const char *path) {
    struct path_place key = {(char *)path, 0};
    const struct path_place *found = bsearch(&key, places, count, sizeof *places, compare_paths);
    return found ? found->shard : SIZE_MAX;
}

/* Joins the entries that begin after the first byte of a file to the entry of the file's start. */
static recmap_status join_grown(struct shard_list *list, const recmap_dataset *dataset,
                                const size_t *grown, size_t grown_count, char **paths,
                                recmap_error *error) {
    if (!grown_count) return RECMAP_OK;
    struct path_place *places = malloc((list->count + 1) * sizeof *places);
    if (!places) return fail_memory(error);
    for (size_t i = 0; i < list->count; i++)
        places[i] = (struct path_place){list->shards[i].path, i};
    qsort(places, list->count, sizeof *places, compare_paths);
    size_t first_count = list->count;
    for (size_t i = 0; i < grown_count; i++) {
        recmap_shard_info info;
        if (recmap_dataset_get_shard(&info, dataset, grown[i], NULL) != RECMAP_OK) continue;
        size_t shard = find_grown(places, first_count, paths[grown[i]]);
        if (shard == SIZE_MAX) {
            shard = list->count++;
            list->shards[shard].path = paths[grown[i]];
            paths[grown[i]] = NULL;
        }
        list->entries[grown[i]].shard = shard;
        add_part(&list->shards[shard], &info);
    }
    free(places);
    return RECMAP_OK;
}

static recmap_status list_entries(struct shard_list *list, const recmap_dataset *dataset,
                                  char **paths, size_t *grown, recmap_error *error) {
    size_t grown_count = 0;
    for (size_t i = 0; i < list->entry_count; i++) {
        char path[PATH_MAX];
        recmap_shard_info info;
        RETURN_IF_FAILED(recmap_dataset_get_shard(&info, dataset, i, error));
        if (recmap_dataset_shard_path(path, sizeof path, dataset, i, NULL) != RECMAP_OK)
            path[0] = 0;
        paths[i] = strdup(path[0] ? path : info.path);
        if (!paths[i]) return fail_memory(error);
        list->entries[i] =
            (struct listed_entry){list->count, info.first_record, info.record_count, 0};
        if (info.first_byte) {
            grown[grown_count++] = i;
            continue;
        }
        list->shards[list->count].path = paths[i];
        paths[i] = NULL;
        add_part(&list->shards[list->count++], &info);
    }
    return join_grown(list, dataset, grown, grown_count, paths, error);
}

/* Findings use the names that were given, if they are those of the same files in the same order. */
static void use_names(struct shard_list *list, const recmap_shards *named) {
    bool are_same = named && recmap_shards_count(named) == list->count;
    for (size_t i = 0; are_same && i < list->count; i++)
        are_same =
            !strcmp(path_name(list->shards[i].path), path_name(recmap_shards_path(named, i)));
    for (size_t i = 0; i < list->count; i++)
        list->shards[i].name = are_same ? recmap_shards_path(named, i) : list->shards[i].path;
}

recmap_status shard_list_init(struct shard_list *list, const recmap_dataset *dataset,
                              const recmap_shards *named, recmap_error *error) {
    size_t count = (size_t)recmap_dataset_get_info(dataset)->shard_count;
    *list = (struct shard_list){.entry_count = count};
    RETURN_IF_FAILED(reserve(list, count, error));
    char **paths = calloc(count + 1, sizeof *paths);
    size_t *grown = calloc(count + 1, sizeof *grown);
    recmap_status status = paths && grown ? list_entries(list, dataset, paths, grown, error)
                                          : fail_memory(error);
    for (size_t i = 0; paths && i < count; i++) free(paths[i]);
    free(paths);
    free(grown);
    if (status == RECMAP_OK) use_names(list, named);
    return status;
}

/* ---- Shards without an index. */

recmap_status shard_list_init_named(struct shard_list *list, const recmap_shards *named,
                                    recmap_error *error) {
    size_t count = recmap_shards_count(named);
    *list = (struct shard_list){0};
    RETURN_IF_FAILED(reserve(list, count, error));
    for (; list->count < count; list->count++) {
        struct listed_shard *shard = &list->shards[list->count];
        shard->name = recmap_shards_path(named, list->count);
        shard->path = strdup(shard->name);
        shard->record_count = shard->byte_count = shard->payload_size = COUNT_UNKNOWN;
        if (!shard->path) return fail_memory(error);
    }
    return RECMAP_OK;
}

void shard_list_deinit(struct shard_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->shards[i].path);
    free(list->shards);
    free(list->entries);
    *list = (struct shard_list){0};
}

const struct listed_entry *shard_list_find(const struct shard_list *list, uint64_t number) {
    size_t low = 0, high = list->entry_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (list->entries[middle].first_record <= number) low = middle;
        else high = middle;
    }
    return &list->entries[low];
}
