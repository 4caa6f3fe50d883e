#include "index/tables/partial_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/warning.h"
#include "base/os/file.h"
#include "base/os/list.h"
#include "base/words/shell_word.h"
#include "base/words/url_prefix.h"
#include "format/shards/index_name.h"
#include "format/shards/shard_sets.h"

enum { PATH_SIZE = 4096, WARNED_MAX = 3 };

struct part {
    char path[PATH_SIZE]; /* of the index */
    size_t shared_count;
    bool is_candidate;    /* it may be the index of these shards */
    const char *obstacle; /* why it is not to be extended; or NULL */
    bool is_of_set;       /* it is named after some of the shards, so only a copy may have others */
};

struct parts {
    struct part *items;
    size_t count;
};

static bool is_default_of(const char *path, const struct shard_overlap *overlap, size_t count) {
    return shard_overlap_has_name(overlap, path, count, index_name_write) ||
           shard_overlap_has_name(overlap, path, count, index_name_write_old);
}

/* Returns true if the index has, or once had, the default name for its files. One that was extended
 * has the earlier ones first, and kept its name. Names seldom depend on one more of many files, so
 * not all numbers of files are tried. */
static bool has_default_name(const struct shard_overlap *overlap, const char *path) {
    for (size_t count = 1; count < overlap->count; count += 1 + count / 64)
        if (is_default_of(path, overlap, count)) return true;
    return is_default_of(path, overlap, overlap->count);
}

/* Returns true if all shards that the index lacks were written after it. */
static bool is_older(const char *path, const struct shard_listing *listing) {
    struct file_stat index, shard;
    if (!file_stat_path(&index, path)) return false;
    for (size_t i = 0; i < listing->count; i++) {
        if (listing->is_shared[i]) continue;
        if (url_is_url(listing->paths[i]) || !file_stat_path(&shard, listing->paths[i]) ||
            shard.mtime_ns <= index.mtime_ns)
            return false;
    }
    return true;
}

static bool is_of_one_of_set(const struct shard_overlap *overlap) {
    struct set_label label;
    set_label_init(&label, overlap->paths[0]);
    return overlap->count == 1 && label.kind == SET_NUMBERED && label.member.count > 1;
}

/* Returns true if the index has shards of one folder, and the listing shards of others too. */
static bool is_of_one_folder(const struct shard_overlap *overlap,
                             const struct shard_listing *listing) {
    return !index_name_spans_folders(overlap->paths, overlap->count) &&
           index_name_spans_folders(listing->paths, listing->count);
}

/* Why the index is named after a set or a shard that these shards are more than, or NULL. */
static const char *find_own_set(const struct shard_overlap *overlap,
                                const struct shard_listing *listing, size_t set_count) {
    if (set_count > 1) return "these shards are several sets";
    if (is_of_one_folder(overlap, listing)) return "these shards are in several folders";
    return is_of_one_of_set(overlap) ? "its name is that of one shard of a set" : NULL;
}

static recmap_status find_obstacle(struct part *part, const struct shard_overlap *overlap,
                                   const struct shard_listing *listing, recmap_error *error) {
    struct shard_sets sets = SHARD_SETS_INIT;
    RETURN_IF_FAILED(shard_sets_find(&sets, listing->paths, listing->count, error));
    if (overlap->other_count) part->obstacle = "it also has other shards";
    else part->obstacle = find_own_set(overlap, listing, sets.count);
    part->is_of_set = !overlap->other_count && part->obstacle;
    if (!part->obstacle && !is_older(part->path, listing))
        part->obstacle = "not all others are newer than the index";
    shard_sets_deinit(&sets);
    return RECMAP_OK;
}

/* Adds the index if it has a default name and some of the shards. The index of a folder of which
 * some shards are opened is left alone. */
static recmap_status parts_add(struct parts *parts, const char *path, struct shard_listing *listing,
                               recmap_error *error) {
    struct shard_overlap overlap;
    bool is_readable;
    struct part *part = &parts->items[parts->count];
    recmap_status status = shard_overlap_init(&overlap, &is_readable, path, listing, error);
    bool is_other = overlap.other_count && !overlap.gone_count;
    bool is_part = status == RECMAP_OK && overlap.shared_count &&
                   (!is_other || overlap.shared_count < listing->count) &&
                   has_default_name(&overlap, path);
    if (is_part) {
        *part = (struct part){.shared_count = overlap.shared_count,
                              .is_candidate = !overlap.other_count || overlap.gone_count};
        memcpy(part->path, path, strlen(path) + 1);
        status = find_obstacle(part, &overlap, listing, error);
        parts->count++;
    }
    shard_overlap_deinit(&overlap);
    return status;
}

static void warn_of_part(const struct part *part, const char *obstacle, const char *path,
                         size_t shard_count) {
    recmap_error warning = RECMAP_ERROR_INIT;
    char word[SHELL_WORD_SIZE], new_word[SHELL_WORD_SIZE];
    fail(&warning, RECMAP_STALE,
         "is the index of %zu of these %zu shards and is not used, because %s: %.200s numbers the "
         "records anew and has its ids and columns only if they are named again",
         part->shared_count, shard_count, obstacle, path);
    fail_file(&warning, part->path);
    bool has_words = shell_word_write(word, sizeof word, part->path) &&
                     shell_word_write(new_word, sizeof new_word, path);
    if (part->is_of_set && has_words)
        fail_advise(&warning,
                    "to keep them, copy the index with `recmap merge -o %s %s`, and index the "
                    "shards again: the copy gets the others",
                    new_word, word);
    else if (has_words)
        fail_advise(&warning,
                    "to use it and add what it lacks, `recmap index --append -o %s SHARDS`", word);
    else fail_advise(&warning, "to use it, name it as the index of the shards");
    warn(&warning);
}

/* Uses the only part that may be the index, or warns of all. */
static void parts_choose(const struct parts *parts, char *path, size_t capacity,
                         size_t shard_count) {
    const struct part *candidate = NULL;
    size_t candidate_count = 0;
    for (size_t i = 0; i < parts->count; i++) {
        if (!parts->items[i].is_candidate) continue;
        candidate = &parts->items[i];
        candidate_count++;
    }
    if (candidate_count == 1 && !candidate->obstacle && strlen(candidate->path) < capacity) {
        memcpy(path, candidate->path, strlen(candidate->path) + 1);
        return;
    }
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->items[i];
        const char *obstacle = part->obstacle ? part->obstacle : "there are several";
        warn_of_part(part, obstacle, path, shard_count);
    }
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_index_name(const char *name) {
    size_t size = strlen(name);
    return name[0] != '.' && size > 4 && !strcmp(name + size - 4, ".rmx");
}

static recmap_status find_parts(struct parts *parts, const struct path_list *list, const char *path,
                                struct shard_listing *listing, recmap_error *error) {
    char part[PATH_SIZE];
    size_t folder_size = (size_t)(path_name(path) - path);
    for (size_t i = 0; i < list->count && parts->count < WARNED_MAX; i++) {
        int size = snprintf(part, sizeof part, "%.*s%s", (int)folder_size, path,
                            path_name(list->paths[i]));
        if (size < 0 || (size_t)size >= sizeof part) continue;
        RETURN_IF_FAILED(parts_add(parts, part, listing, error));
    }
    return RECMAP_OK;
}

/* A folder that cannot be listed has no index for these shards. */
recmap_status partial_index_find(char *path, size_t capacity, struct shard_listing *listing,
                                 recmap_error *error) {
    struct path_list list = PATH_LIST_INIT;
    struct parts parts = {calloc(WARNED_MAX, sizeof *parts.items), 0};
    char *folder = path_folder(path);
    recmap_status status = folder && parts.items ? list_folder(&list, folder, is_index_name, error)
                                                 : fail_memory(error);
    if (status == RECMAP_IO) status = RECMAP_OK;
    if (status == RECMAP_OK) status = path_list_sort(&list, 0, compare_paths, error);
    if (status == RECMAP_OK) status = find_parts(&parts, &list, path, listing, error);
    if (status == RECMAP_OK) parts_choose(&parts, path, capacity, listing->count);
    path_list_deinit(&list);
    free(parts.items);
    free(folder);
    return status;
}
