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
    uint64_t digest; /* of the samples that were read; 0: of none, or not readable */
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

/* An indexed file is compared by moved_shards_check. Small files are often equal without being
 * copies, such as compressed shards without records. */
static bool may_be_copies(const struct named_file *a, const struct named_file *b) {
    return a->is_new && b->is_new && a->stat.size == b->stat.size && a->stat.size >= SAMPLE_SIZE &&
           a->digest == b->digest && !strcmp(path_name(a->path), path_name(b->path)) &&
           !file_is_same(&a->stat, &b->stat);
}

/* The first sample is at the start of the file and the last one at its end. */
static uint64_t sample_start(const struct named_file *file, uint64_t i) {
    uint64_t last = file->stat.size - SAMPLE_SIZE;
    return i + 1 < SAMPLE_COUNT ? i * (last / (SAMPLE_COUNT - 1)) : last;
}

/* Adds samples at equal distances to the digest: those from `first` on, up to `end`. Scanning
 * reports a file that cannot be read. */
static void read_samples(struct named_file *file, uint64_t first, uint64_t end) {
    uint8_t bytes[SAMPLE_SIZE];
    uint64_t digest = file->digest;
    int fd;
    file->digest = 0;
    if (file_open(&fd, file->path, NULL) != RECMAP_OK) return;
    recmap_status status = RECMAP_OK;
    for (uint64_t i = first; status == RECMAP_OK && i < end; i++) {
        status = file_read_at(fd, bytes, SAMPLE_SIZE, sample_start(file, i), file->path, NULL);
        if (status == RECMAP_OK) digest = XXH3_64bits_withSeed(bytes, SAMPLE_SIZE, digest);
    }
    file_close(fd);
    if (status == RECMAP_OK) file->digest = digest;
}

/* Reads samples of the sorted files that may be copies of a neighbour, and then sorts them
 * again. */
static recmap_status read_candidates(struct named_file *files, size_t count, uint64_t first,
                                     uint64_t end, recmap_error *error) {
    bool is_like_previous = false, has_any = false;
    for (size_t i = 0; i < count; i++) {
        bool is_like_next = i + 1 < count && may_be_copies(&files[i], &files[i + 1]);
        bool is_candidate = is_like_previous || is_like_next;
        is_like_previous = is_like_next;
        if (!is_candidate || (first && !files[i].digest)) continue;
        RETURN_IF_FAILED(
            interrupt_check(thread_interrupt(), (size_t)(end - first) * SAMPLE_SIZE, error));
        read_samples(&files[i], first, end);
        has_any = true;
    }
    return has_any ? sort_items(files, count, sizeof *files, compare_copies, error) : RECMAP_OK;
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

/* Warns of the first two new files of the same name, size and sampled bytes, in two folders. Most
 * files that are not copies differ in their first samples. */
static recmap_status find_copies(struct named_file *files, size_t count, recmap_error *error) {
    RETURN_IF_FAILED(sort_items(files, count, sizeof *files, compare_copies, error));
    RETURN_IF_FAILED(read_candidates(files, count, 0, 1, error));
    RETURN_IF_FAILED(read_candidates(files, count, 1, SAMPLE_COUNT, error));
    for (size_t i = 1; i < count; i++) {
        if (!files[i].digest || !may_be_copies(&files[i - 1], &files[i])) continue;
        warn_of_copies(&files[i - 1], &files[i]);
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
