#include "index/build/moved_shards.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "index/tables/grown.h"

/* By the names of files, and these by the identities of the shards that an index has. */
static int compare_contents(const void *a, const void *b) {
    const struct named_shard *left = *(struct named_shard *const *)a;
    const struct named_shard *right = *(struct named_shard *const *)b;
    int order = strcmp(path_name(left->path), path_name(right->path));
    if (!order) order = !left->entry - !right->entry;
    if (!order && left->entry)
        order = memcmp(left->entry->identity.hash, right->entry->identity.hash, IDENTITY_HASH_SIZE);
    return order ? order : (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static bool have_same_contents(const struct named_shard *a, const struct named_shard *b) {
    return a->entry->record_count && a->entry->file_size == b->entry->file_size &&
           !memcmp(a->entry->identity.hash, b->entry->identity.hash, IDENTITY_HASH_SIZE);
}

static recmap_status fail_moved(const struct named_shard *indexed, const char *path,
                                recmap_error *error) {
    fail(error, RECMAP_INVALID, "the index has this shard already, as %.800s", indexed->path);
    fail_file(error, path);
    fail_advise(error, "if the shards were moved, open their index with `--shards FOLDER`, or "
                       "build it again; `--sets all` joins copies");
    return RECMAP_INVALID;
}

/* Compares a new shard with the shards of indexes whose files have the same name. */
static recmap_status check_new(const struct build_part *parts, const struct named_shard *shard,
                               struct named_shard *const *indexed, size_t count,
                               recmap_storage *storage, recmap_error *error) {
    struct source *source = NULL;
    bool is_same = false;
    recmap_status status =
        shard_source_open(&source, parts[shard->part].resolved, storage, NULL, error);
    for (size_t i = 0; status == RECMAP_OK && i < count && !is_same; i++) {
        status = index_compare_contents(&is_same, parts[indexed[i]->part].index,
                                        indexed[i]->shard_index, source, error);
        if (is_same) status = fail_moved(indexed[i], shard->path, error);
    }
    source_close(source);
    return status;
}

/* Within a file name, shards of indexes precede new ones. An index may have a shard twice. */
static recmap_status check_sorted(const struct named_shards *list,
                                  struct named_shard *const *sorted, recmap_storage *storage,
                                  recmap_error *error) {
    for (size_t i = 0, first = 0, indexed_count = 0; i < list->count; i++) {
        const struct named_shard *shard = sorted[i], *previous = i ? sorted[i - 1] : shard;
        if (strcmp(path_name(previous->path), path_name(shard->path)) != 0) {
            first = i;
            indexed_count = 0;
        }
        if (indexed_count && shard->entry && previous->part != shard->part &&
            have_same_contents(previous, shard))
            return fail_moved(previous, shard->path, error);
        indexed_count += shard->entry != NULL;
        if (indexed_count && named_shards_is_new(list, shard))
            RETURN_IF_FAILED(
                check_new(list->parts, shard, sorted + first, indexed_count, storage, error));
    }
    return RECMAP_OK;
}

recmap_status moved_shards_check(const struct named_shards *list, recmap_storage *storage,
                                 recmap_error *error) {
    struct named_shard **sorted;
    RETURN_IF_FAILED(named_shards_sort(&sorted, list, compare_contents, error));
    recmap_status status = check_sorted(list, sorted, storage, error);
    free(sorted);
    return status;
}
