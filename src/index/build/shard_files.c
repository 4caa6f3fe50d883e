#include "index/build/shard_files.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "base/core/warning.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"

/* Of the bytes that tell whether two files are equal. */
enum { SAMPLE_COUNT = 8, SAMPLE_SIZE = 4096 };

/* A local file that is a shard, under one of its names. */
struct named_file {
    struct file_stat stat;
    const char *path;
    bool is_new;
    uint64_t digest; /* of samples of its bytes; 0: not computed, or not readable */
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
        if (!named_shards_is_new(list, shard)) continue;
        files[new_count].is_new = true;
        new_count += stat_file(&files[new_count], shard->path);
    }
    RETURN_IF_FAILED(sort_items(files, new_count, sizeof *files, compare_versions, error));
    *count = new_count;
    for (size_t i = 0; i < list->count; i++) {
        const struct shard_entry *entry = list->shards[i].entry;
        if (!entry) continue;
        files[*count].is_new = false;
        struct named_file indexed = {.stat.size = entry->file_size,
                                     .stat.mtime_ns = entry->mtime_ns};
        if (!bsearch(&indexed, files, new_count, sizeof *files, compare_versions)) continue;
        *count += stat_file(&files[*count], list->shards[i].path);
    }
    return RECMAP_OK;
}

static int compare_copies(const void *a, const void *b) {
    const struct named_file *left = a, *right = b;
    int order = right->is_new - left->is_new;
    if (!order) order = strcmp(path_name(left->path), path_name(right->path));
    if (!order && left->stat.size != right->stat.size)
        order = left->stat.size < right->stat.size ? -1 : 1;
    if (!order && left->digest != right->digest) order = left->digest < right->digest ? -1 : 1;
    return order ? order : strcmp(left->path, right->path);
}

/* An indexed file is compared by moved_shards_check. */
static bool may_be_copies(const struct named_file *a, const struct named_file *b) {
    return a->is_new && b->is_new && a->stat.size == b->stat.size &&
           !strcmp(path_name(a->path), path_name(b->path)) && !file_is_same(&a->stat, &b->stat);
}

/* Reads samples at equal distances, the first at the start of the file and the last at its end.
 * Scanning reports a file that cannot be read. */
static void read_digest(struct named_file *file) {
    uint8_t bytes[SAMPLE_SIZE];
    size_t size = file->stat.size < SAMPLE_SIZE ? (size_t)file->stat.size : SAMPLE_SIZE;
    uint64_t step = (file->stat.size - size) / (SAMPLE_COUNT - 1), digest = 0;
    int fd;
    if (file_open(&fd, file->path, NULL) != RECMAP_OK) return;
    recmap_status status = RECMAP_OK;
    for (uint64_t i = 0; status == RECMAP_OK && i < SAMPLE_COUNT; i++) {
        uint64_t start = i + 1 < SAMPLE_COUNT ? i * step : file->stat.size - size;
        status = file_read_at(fd, bytes, size, start, file->path, NULL);
        if (status == RECMAP_OK) digest = XXH3_64bits_withSeed(bytes, size, digest);
    }
    file_close(fd);
    if (status == RECMAP_OK) file->digest = digest;
}

/* Reads samples of the sorted files that have the name and the size of a neighbour. */
static recmap_status read_digests(bool *has_any, struct named_file *files, size_t count,
                                  recmap_error *error) {
    *has_any = false;
    for (size_t i = 0; i < count; i++) {
        bool is_like_previous = i && may_be_copies(&files[i - 1], &files[i]);
        bool is_like_next = i + 1 < count && may_be_copies(&files[i], &files[i + 1]);
        if (!is_like_previous && !is_like_next) continue;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SAMPLE_COUNT * SAMPLE_SIZE, error));
        read_digest(&files[i]);
        *has_any = true;
    }
    return RECMAP_OK;
}

static void warn_of_copies(const struct named_file *a, const struct named_file *b) {
    recmap_error warning = RECMAP_ERROR_INIT;
    fail(&warning, RECMAP_INVALID,
         "seems to be a copy of %.1000s (same name, size and sampled bytes), so its records "
         "occur twice",
         a->path);
    fail_file(&warning, b->path);
    fail_advise(&warning, "if that is not meant, remove one of the two copies and build the index "
                          "again");
    warn(&warning);
}

/* Warns of the first two new files of the same name, size and sampled bytes, in two folders. */
static recmap_status find_copies(struct named_file *files, size_t count, recmap_error *error) {
    bool has_any;
    RETURN_IF_FAILED(sort_items(files, count, sizeof *files, compare_copies, error));
    RETURN_IF_FAILED(read_digests(&has_any, files, count, error));
    if (!has_any) return RECMAP_OK;
    RETURN_IF_FAILED(sort_items(files, count, sizeof *files, compare_copies, error));
    for (size_t i = 1; i < count; i++) {
        const struct named_file *previous = &files[i - 1];
        if (!files[i].digest || files[i].digest != previous->digest) continue;
        if (!may_be_copies(previous, &files[i])) continue;
        warn_of_copies(previous, &files[i]);
        break;
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
    if (status == RECMAP_OK) status = find_copies(files, count, error);
    free(files);
    return status;
}
