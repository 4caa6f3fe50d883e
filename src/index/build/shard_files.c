#include "index/build/shard_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "base/core/warning.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"

/* A local file that is a shard, under one of its names. */
struct named_file {
    struct file_stat stat;
    const char *path;
};

static int compare_files(const void *a, const void *b) {
    const struct named_file *left = a, *right = b;
    const struct file_stat *x = &left->stat, *y = &right->stat;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode) return x->inode < y->inode ? -1 : 1;
    return strcmp(left->path, right->path);
}

static int compare_versions(const void *a, const void *b) {
    const struct file_stat *x = &((const struct named_file *)a)->stat;
    const struct file_stat *y = &((const struct named_file *)b)->stat;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x->mtime_ns > y->mtime_ns) - (x->mtime_ns < y->mtime_ns);
}

static void warn_of_links(const struct named_file *a, const struct named_file *b) {
    recmap_error warning = RECMAP_ERROR_INIT;
    fail(&warning, RECMAP_INVALID, "is the same file as %.1000s, so its records occur twice",
         a->path);
    fail_file(&warning, b->path);
    fail_advise(&warning, "if that is not meant, remove one of the two names and build the index "
                          "again");
    warn(&warning);
}

/* Empty shards are left out: in the cache of a hub, which keeps equal files once, they are one. */
static bool stat_file(struct named_file *file, const char *path) {
    file->path = path;
    return !url_is_url(path) && file_stat_path(&file->stat, path) && file->stat.size;
}

/* Lists the new files, and each indexed file that has the size and the time of a new one. Other
 * indexed files are not looked at: they may be many, or on another machine. */
static recmap_status list_files(struct named_file *files, size_t *count,
                                const struct named_shards *list, recmap_error *error) {
    size_t new_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct named_shard *shard = &list->shards[i];
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), PATH_WORK, error));
        if (named_shards_is_new(list, shard))
            new_count += stat_file(&files[new_count], shard->path);
    }
    RETURN_IF_FAILED(sort_items(files, new_count, sizeof *files, compare_versions, error));
    *count = new_count;
    for (size_t i = 0; i < list->count; i++) {
        const struct shard_entry *entry = list->shards[i].entry;
        if (!entry) continue;
        struct named_file indexed = {.stat.size = entry->file_size,
                                     .stat.mtime_ns = entry->mtime_ns};
        if (!bsearch(&indexed, files, new_count, sizeof *files, compare_versions)) continue;
        *count += stat_file(&files[*count], list->shards[i].path);
    }
    return RECMAP_OK;
}

static recmap_status find_links(struct named_file *files, size_t count, recmap_error *error) {
    RETURN_IF_FAILED(sort_items(files, count, sizeof *files, compare_files, error));
    for (size_t i = 1; i < count; i++) {
        if (!file_is_same(&files[i - 1].stat, &files[i].stat)) continue;
        if (!strcmp(files[i - 1].path, files[i].path)) continue; /* parts of a shard that grew */
        warn_of_links(&files[i - 1], &files[i]);
        break;
    }
    return RECMAP_OK;
}

recmap_status shard_files_check(const struct named_shards *list, recmap_error *error) {
    size_t count = 0;
    struct named_file *files = calloc(list->count + 1, sizeof *files);
    recmap_status status = files ? list_files(files, &count, list, error) : fail_memory(error);
    if (status == RECMAP_OK) status = find_links(files, count, error);
    free(files);
    return status;
}
