/* Finds the index of a list of shards: under its default name, under the one of recmap 0.2.0, or
 * under the name that it got when the list was shorter. */
#include <recmap/shards.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/warning.h"
#include "base/os/file.h"
#include "base/os/list.h"
#include "base/words/shell_word.h"
#include "base/words/url_prefix.h"
#include "format/shards/index_name.h"
#include "format/shards/shard_sets.h"
#include "format/shards/shard_source.h"
#include "index/tables/index.h"

enum { PATH_SIZE = 4096, WARNED_MAX = 3 };

static bool is_there(const char *path) {
    struct file_stat stat;
    return file_stat_path(&stat, path);
}

/* Returns true if both paths lead to one file. */
static bool lead_to_one_file(const char *a, const char *b) {
    char *resolved[2] = {NULL, NULL};
    bool is_same = path_resolve(&resolved[0], a, NULL) == RECMAP_OK &&
                   path_resolve(&resolved[1], b, NULL) == RECMAP_OK &&
                   !strcmp(resolved[0], resolved[1]);
    free(resolved[0]);
    free(resolved[1]);
    return is_same;
}

static bool is_same_shard(const char *a, const char *b) {
    return !strcmp(a, b) || (!url_is_url(a) && !url_is_url(b) && lead_to_one_file(a, b));
}

/* The shards of the list, by the last part of their paths. */
struct listing {
    char **paths; /* borrowed from the list */
    size_t count;
    bool *is_shared;    /* with the index that was compared last */
    bool follows_links; /* an index of 0.2.0 may name what links of other names lead to */
};

static int compare_names(const void *a, const void *b) {
    return strcmp(path_name(*(char *const *)a), path_name(*(char *const *)b));
}

static recmap_status listing_init(struct listing *listing, const recmap_shards *shards,
                                  recmap_error *error) {
    size_t count = recmap_shards_count(shards);
    *listing = (struct listing){calloc(count, sizeof *listing->paths), count,
                                calloc(count, sizeof *listing->is_shared), false};
    if (!listing->paths || !listing->is_shared) return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        listing->paths[i] = (char *)(uintptr_t)recmap_shards_path(shards, i);
    qsort(listing->paths, count, sizeof *listing->paths, compare_names);
    return RECMAP_OK;
}

static void listing_deinit(struct listing *listing) {
    free(listing->paths);
    free(listing->is_shared);
}

/* The place of the shard in the listing, or the number of shards. */
static size_t listing_find(const struct listing *listing, char *path) {
    size_t low = 0, high = listing->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(&listing->paths[middle], &path) < 0) low = middle + 1;
        else high = middle;
    }
    for (; low < listing->count && !compare_names(&listing->paths[low], &path); low++)
        if (is_same_shard(listing->paths[low], path)) return low;
    for (size_t i = 0; listing->follows_links && i < listing->count; i++)
        if (is_same_shard(listing->paths[i], path)) return i;
    return listing->count;
}

/* What an index and the listing have in common. */
struct overlap {
    char **paths;        /* of the files of the index */
    size_t count;        /* of them */
    size_t shared_count; /* of shards that both have */
    size_t other_count;  /* of files of the index that the listing lacks */
    size_t gone_count;   /* of these, those that do not exist */
};

static void overlap_deinit(struct overlap *overlap) {
    for (size_t i = 0; i < overlap->count; i++) free(overlap->paths[i]);
    free(overlap->paths);
}

static recmap_status overlap_add(struct overlap *overlap, const char *name, const char *folder,
                                 struct listing *listing, recmap_error *error) {
    char *path = shard_name_is_absolute(name) ? strdup(name) : path_join(folder, name);
    if (!path) return fail_memory(error);
    overlap->paths[overlap->count++] = path;
    size_t place = listing_find(listing, path);
    if (place == listing->count) {
        overlap->other_count++;
        listing->follows_links = false; /* the index is not used: save the time */
        overlap->gone_count += !url_is_url(path) && !is_there(path);
    } else if (!listing->is_shared[place]) {
        overlap->shared_count++;
        listing->is_shared[place] = true;
    }
    return interrupt_check(thread_interrupt(), PATH_WORK, error);
}

/* The parts of a file that grew are shards of the index: `seen` has the last part of each file. */
static recmap_status add_files(struct overlap *overlap, bool *seen, const struct index_file *index,
                               struct listing *listing, recmap_error *error) {
    char *folder = NULL;
    bool is_elsewhere;
    RETURN_IF_FAILED(index_find_folder(&folder, &is_elsewhere, index, error));
    const struct index_shard *shard = index_shards(index);
    const struct index_shard *end = shard + index_manifest(index)->shard_count;
    recmap_status status = RECMAP_OK;
    for (; status == RECMAP_OK && shard < end; shard++) {
        if (seen[shard->last_part]) continue;
        seen[shard->last_part] = true;
        status = overlap_add(overlap, shard->entry.path, folder, listing, error);
    }
    free(folder);
    return status;
}

/* To be deinitialized also after an error. */
static recmap_status overlap_init(struct overlap *overlap, const struct index_file *index,
                                  struct listing *listing, recmap_error *error) {
    size_t count = (size_t)index_manifest(index)->shard_count + 1;
    bool *seen = calloc(count, sizeof *seen);
    *overlap = (struct overlap){.paths = calloc(count, sizeof *overlap->paths)};
    memset(listing->is_shared, 0, listing->count * sizeof *listing->is_shared);
    recmap_status status = overlap->paths && seen ? add_files(overlap, seen, index, listing, error)
                                                  : fail_memory(error);
    free(seen);
    return status;
}

typedef recmap_status write_name(char *path, size_t capacity, char *const *shards, size_t count,
                                 recmap_error *error);

/* Returns true if the last part of the path is the name for the first files of the index. */
static bool is_name_of(const char *path, const struct overlap *overlap, size_t count,
                       write_name *write) {
    char name[PATH_SIZE];
    return count && write(name, sizeof name, overlap->paths, count, NULL) == RECMAP_OK &&
           !strcmp(path_name(name), path_name(path));
}

static bool is_default_of(const char *path, const struct overlap *overlap, size_t count) {
    return is_name_of(path, overlap, count, index_name_write) ||
           is_name_of(path, overlap, count, index_name_write_old);
}

/* Returns true if the index has, or once had, the default name for its files. One that was extended
 * has the earlier ones first, and kept its name. Names seldom depend on one more of many files, so
 * not all numbers of files are tried. */
static bool has_default_name(const struct overlap *overlap, const char *path) {
    for (size_t count = 1; count < overlap->count; count += 1 + count / 64)
        if (is_default_of(path, overlap, count)) return true;
    return is_default_of(path, overlap, overlap->count);
}

static bool is_fatal(recmap_status status) {
    return status == RECMAP_NO_MEMORY || status == RECMAP_CANCELLED;
}

/* Compares the index at the path with the listing, unless the index cannot be read. */
static recmap_status compare(struct overlap *overlap, bool *is_readable, const char *path,
                             struct listing *listing, recmap_error *error) {
    struct index_file *index = NULL;
    *overlap = (struct overlap){0};
    recmap_status status = index_open(&index, path, NULL, error);
    *is_readable = status == RECMAP_OK;
    if (status != RECMAP_OK) return is_fatal(status) ? status : RECMAP_OK;
    status = overlap_init(overlap, index, listing, error);
    index_close(index);
    return status;
}

/* ---- The index under the name of recmap 0.2.0. */

/* Finds out if the index at the old path is to be used. One that cannot be read is: it may have
 * columns that exist nowhere else, so it must not be ignored. An index of some of the shards is
 * extended, unless the path is its default name: then it may be the index of these shards alone. */
static recmap_status check_old(bool *is_used, const char *path, struct listing *listing,
                               recmap_error *error) {
    struct overlap overlap;
    bool is_readable;
    listing->follows_links = true;
    recmap_status status = compare(&overlap, &is_readable, path, listing, error);
    listing->follows_links = false;
    bool is_of_list = overlap.count && !overlap.other_count;
    *is_used = !is_readable ||
               (is_of_list && (overlap.shared_count == listing->count ||
                               !is_name_of(path, &overlap, overlap.count, index_name_write)));
    overlap_deinit(&overlap);
    return status;
}

static recmap_status find_old(bool *is_found, char *path, size_t capacity,
                              const recmap_shards *shards, struct listing *listing,
                              recmap_error *error) {
    char old[PATH_SIZE];
    if (recmap_shards_old_index_path(old, sizeof old, shards, NULL) != RECMAP_OK ||
        !strcmp(old, path) || !is_there(old) || strlen(old) >= capacity)
        return RECMAP_OK;
    RETURN_IF_FAILED(check_old(is_found, old, listing, error));
    if (*is_found) memcpy(path, old, strlen(old) + 1);
    return RECMAP_OK;
}

/* ---- The index of a part of the list.
 *
 * New shards may change the default name: m.tfrecord alone has m.rmx, but with b.tfrecord beside it
 * the index is named after the folder. The index of the earlier shards must then be found, or its
 * ids, columns and record numbers would be lost without a word. But m.rmx may as well be the index
 * of one shard that is opened by its name, which must not get the records of others. The names do
 * not tell. The times do: shards that were there when m.rmx was written are not new. */

struct part {
    char path[PATH_SIZE]; /* of the index */
    size_t shared_count;
    bool is_candidate;    /* it may be the index of these shards */
    const char *obstacle; /* why it is not to be extended; or NULL */
};

struct parts {
    struct part *items;
    size_t count;
};

/* Returns true if all shards that the index lacks were written after it. */
static bool is_older(const char *path, const struct listing *listing) {
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

static bool is_of_one_of_set(const struct overlap *overlap) {
    struct set_label label;
    set_label_init(&label, overlap->paths[0]);
    return overlap->count == 1 && label.kind == SET_NUMBERED && label.member.count > 1;
}

static recmap_status find_obstacle(struct part *part, const struct overlap *overlap,
                                   const struct listing *listing, recmap_error *error) {
    struct shard_sets sets = SHARD_SETS_INIT;
    RETURN_IF_FAILED(shard_sets_find(&sets, listing->paths, listing->count, error));
    if (overlap->other_count) part->obstacle = "it also has other shards";
    else if (sets.count > 1) part->obstacle = "these shards are several sets";
    else if (is_of_one_of_set(overlap)) part->obstacle = "its name is that of one shard of a set";
    else if (!is_older(part->path, listing))
        part->obstacle = "not all others are newer than the index";
    shard_sets_deinit(&sets);
    return RECMAP_OK;
}

/* Adds the index if it has a default name and some of the shards. The index of a folder of which
 * some shards are opened is left alone. */
static recmap_status parts_add(struct parts *parts, const char *path, struct listing *listing,
                               recmap_error *error) {
    struct overlap overlap;
    bool is_readable;
    struct part *part = &parts->items[parts->count];
    recmap_status status = compare(&overlap, &is_readable, path, listing, error);
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
    overlap_deinit(&overlap);
    return status;
}

static void warn_of_part(const struct part *part, const char *obstacle, const char *path,
                         size_t shard_count) {
    recmap_error warning = RECMAP_ERROR_INIT;
    char word[SHELL_WORD_SIZE];
    fail(&warning, RECMAP_STALE,
         "is the index of %zu of these %zu shards and is not used, because %s: %.200s numbers the "
         "records anew and lacks its ids and columns",
         part->shared_count, shard_count, obstacle, path);
    fail_file(&warning, part->path);
    if (shell_word_write(word, sizeof word, part->path))
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

static bool is_index_name(const char *name) {
    size_t size = strlen(name);
    return name[0] != '.' && size > 4 && !strcmp(name + size - 4, ".rmx");
}

static recmap_status find_parts(struct parts *parts, const struct path_list *list, const char *path,
                                struct listing *listing, recmap_error *error) {
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
static recmap_status find_part(char *path, size_t capacity, struct listing *listing,
                               recmap_error *error) {
    struct path_list list = PATH_LIST_INIT;
    struct parts parts = {calloc(WARNED_MAX, sizeof *parts.items), 0};
    char *folder = path_folder(path);
    recmap_status status = folder && parts.items ? list_folder(&list, folder, is_index_name, error)
                                                 : fail_memory(error);
    if (status != RECMAP_OK && !is_fatal(status)) status = RECMAP_OK;
    if (status == RECMAP_OK) status = path_list_sort(&list, 0, compare_names, error);
    if (status == RECMAP_OK) status = find_parts(&parts, &list, path, listing, error);
    if (status == RECMAP_OK) parts_choose(&parts, path, capacity, listing->count);
    path_list_deinit(&list);
    free(parts.items);
    free(folder);
    return status;
}

recmap_status recmap_shards_find_index(char *path, size_t capacity, const recmap_shards *shards,
                                       recmap_error *error) {
    struct listing listing;
    bool is_found = false;
    RETURN_IF_FAILED(recmap_shards_index_path(path, capacity, shards, error));
    if (is_there(path)) return RECMAP_OK;
    recmap_status status = listing_init(&listing, shards, error);
    if (status == RECMAP_OK) status = find_old(&is_found, path, capacity, shards, &listing, error);
    if (status == RECMAP_OK && !is_found) status = find_part(path, capacity, &listing, error);
    listing_deinit(&listing);
    return status;
}
