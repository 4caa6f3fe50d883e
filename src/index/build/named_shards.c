#include "index/build/named_shards.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "base/core/warning.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"
#include "format/shards/set_choice.h"
#include "index/build/replay.h"
#include "index/tables/grown.h"
#include "index/tables/rebuild_advice.h"

enum { NAME_WORK = 256 /* for the interrupt, in bytes: copying a name */ };

struct named_shard {
    char *path;                      /* absolute, or a URL */
    size_t sequence;                 /* among the shards of all parts, in their order */
    size_t part;                     /* its index */
    uint32_t shard_index;            /* in the part's index */
    const struct shard_entry *entry; /* in the part's index; NULL if the part is a shard */
};

static const struct index_shard *last_shard(const struct build_part *part) {
    return &index_shards(part->grown)[part->grown_shard];
}

uint64_t build_part_start(const struct build_part *part) {
    return part->grown ? last_shard(part)->entry.file_size : 0;
}

const struct framing *build_part_framing(const struct build_part *part,
                                         const struct framing *framing) {
    return part->grown ? last_shard(part)->framing : framing;
}

static recmap_status fail_twice(const char *path, recmap_error *error) {
    fail(error, RECMAP_INVALID, "the shard is named twice");
    fail_file(error, path);
    fail_advise(error, "name each shard once");
    return RECMAP_INVALID;
}

static int compare_shards(const void *a, const void *b) {
    const struct named_shard *left = *(struct named_shard *const *)a;
    const struct named_shard *right = *(struct named_shard *const *)b;
    int order = strcmp(left->path, right->path);
    return order ? order : (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static size_t shard_count_of(const struct build_part *part) {
    return part->index ? (size_t)index_manifest(part->index)->shard_count : 1;
}

static recmap_status add_names(struct named_shard *names, size_t *count,
                               const struct build_part *parts, size_t part_index,
                               recmap_error *error) {
    const struct build_part *part = &parts[part_index];
    for (size_t i = 0; i < shard_count_of(part); i++) {
        const struct index_shard *shard = part->index ? &index_shards(part->index)[i] : NULL;
        char *path = shard ? replay_shard_path(shard, part->resolved) : strdup(part->resolved);
        if (!path) return fail_memory(error);
        names[*count] = (struct named_shard){path, *count, part_index, (uint32_t)i,
                                             shard ? &shard->entry : NULL};
        ++*count;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), NAME_WORK, error));
    }
    return RECMAP_OK;
}

/* An object in a store cannot grow. */
static recmap_status check_source(struct build_part *part, struct source *source,
                                  recmap_error *error) {
    part->is_complete = source->fd < 0 || source->stat.size == last_shard(part)->entry.file_size;
    return part->is_complete ? index_check_same(part->grown, part->grown_shard, source, error)
                             : index_check_grown(part->grown, part->grown_shard, source, error);
}

/* The advised command names the shards of the index, so with new ones it is no use. */
static recmap_status check_grown(struct build_part *part, recmap_storage *storage, bool has_new,
                                 recmap_error *error) {
    struct source *source = NULL;
    recmap_status status = shard_source_open(&source, part->resolved, storage, NULL, error);
    if (status == RECMAP_OK) status = check_source(part, source, error);
    source_close(source);
    if (status == RECMAP_STALE)
        index_advise_rebuild(error, has_new ? NULL : part->grown,
                             (struct rebuild_option){NULL, NULL},
                             "write new records to new shards; or restore the indexed file, or "
                             "build the index again with ");
    return status;
}

/* Two entries of the same path: parts of a file in one index, or a shard of an index that is named
 * again. */
static recmap_status match(struct build_part *parts, const struct named_shard *previous,
                           const struct named_shard *shard, recmap_error *error) {
    struct build_part *part = &parts[shard->part];
    const struct build_part *indexed = &parts[previous->part];
    if (previous->part == shard->part && part->index) return RECMAP_OK;
    if (part->index || !indexed->index) return fail_twice(shard->path, error);
    part->grown = indexed->index;
    part->grown_shard = previous->shard_index;
    return RECMAP_OK;
}

static recmap_status match_sorted(uint64_t *file_count, struct build_part *parts,
                                  struct named_shard **sorted, size_t count, recmap_error *error) {
    RETURN_IF_FAILED(sort_items(sorted, count, sizeof *sorted, compare_shards, error));
    *file_count = count;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(sorted[i - 1]->path, sorted[i]->path) != 0) continue;
        RETURN_IF_FAILED(match(parts, sorted[i - 1], sorted[i], error));
        --*file_count;
    }
    return RECMAP_OK;
}

static int compare_path(const void *path, const void *shard) {
    return strcmp(path, (*(struct named_shard *const *)shard)->path);
}

static recmap_status fail_link(const struct build_part *part, recmap_error *error) {
    fail(error, RECMAP_INVALID, "the shard is named twice: by this link and as %.800s",
         part->target);
    fail_file(error, part->resolved);
    fail_advise(error, "name each shard once");
    return RECMAP_INVALID;
}

/* Rejects a link to a file that is a shard itself. Several links may lead to one file: shards of
 * the same bytes, such as empty ones, are one file in the cache of a hub. */
static recmap_status check_targets(const struct build_part *parts, size_t part_count,
                                   struct named_shard *const *sorted, size_t count,
                                   recmap_error *error) {
    for (size_t i = 0; i < part_count; i++)
        if (parts[i].target &&
            bsearch(parts[i].target, sorted, count, sizeof *sorted, compare_path))
            return fail_link(&parts[i], error);
    return RECMAP_OK;
}

/* Pointers are sorted, because an interrupted sort may leave items twice. */
static recmap_status match_names(uint64_t *file_count, struct build_part *parts, size_t part_count,
                                 struct named_shard *names, size_t count, recmap_error *error) {
    struct named_shard **sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted) return fail_memory(error);
    for (size_t i = 0; i < count; i++) sorted[i] = &names[i];
    recmap_status status = match_sorted(file_count, parts, sorted, count, error);
    if (status == RECMAP_OK) status = check_targets(parts, part_count, sorted, count, error);
    free(sorted);
    return status;
}

/* Adds the shards of one index, or those that are named between two. A shard that an index has
 * already is known. Returns the index of the next name. */
static size_t add_addition(struct path_list *list, const struct build_part *parts,
                           const struct named_shard *names, size_t first, size_t count) {
    const struct build_part *addition = &parts[names[first].part];
    size_t i = first;
    for (; i < count; i++) {
        const struct build_part *part = &parts[names[i].part];
        if (part != addition && (part->index || addition->index)) break;
        if (!part->grown) list->paths[list->count++] = names[i].path;
    }
    return i;
}

/* Rejects a set of which an index has a copy, as a list of names is rejected that has both. Shards
 * that are named without an index were compared when they were listed. */
static recmap_status check_copies(const struct build_part *parts, const struct named_shard *names,
                                  size_t count, recmap_error *error) {
    struct set_register sets = SET_REGISTER_INIT;
    struct path_list list = {.paths = calloc(count + 1, sizeof *list.paths)};
    recmap_status status = list.paths ? RECMAP_OK : fail_memory(error);
    for (size_t i = 0; status == RECMAP_OK && i < count;) {
        size_t first = list.count;
        i = add_addition(&list, parts, names, i, count);
        status = set_register_check(&sets, &list, first, NULL, error);
    }
    set_register_clear(&sets);
    free(list.paths);
    return status;
}

static bool is_new(const struct build_part *part) {
    return !part->index && !part->grown;
}

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
static recmap_status check_sorted(const struct build_part *parts, struct named_shard **sorted,
                                  size_t count, recmap_storage *storage, recmap_error *error) {
    RETURN_IF_FAILED(sort_items(sorted, count, sizeof *sorted, compare_contents, error));
    for (size_t i = 0, first = 0, indexed_count = 0; i < count; i++) {
        const struct named_shard *shard = sorted[i], *previous = i ? sorted[i - 1] : shard;
        if (strcmp(path_name(previous->path), path_name(shard->path)) != 0) {
            first = i;
            indexed_count = 0;
        }
        if (indexed_count && shard->entry && previous->part != shard->part &&
            have_same_contents(previous, shard))
            return fail_moved(previous, shard->path, error);
        indexed_count += shard->entry != NULL;
        if (indexed_count && is_new(&parts[shard->part]))
            RETURN_IF_FAILED(
                check_new(parts, shard, sorted + first, indexed_count, storage, error));
    }
    return RECMAP_OK;
}

/* Rejects shards of which an index has copies in another folder, as it does after all shards were
 * moved. */
static recmap_status check_moved(const struct build_part *parts, struct named_shard *names,
                                 size_t count, recmap_storage *storage, recmap_error *error) {
    struct named_shard **sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted) return fail_memory(error);
    for (size_t i = 0; i < count; i++) sorted[i] = &names[i];
    recmap_status status = check_sorted(parts, sorted, count, storage, error);
    free(sorted);
    return status;
}

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
                                const struct build_part *parts, const struct named_shard *names,
                                size_t name_count, recmap_error *error) {
    size_t new_count = 0;
    for (size_t i = 0; i < name_count; i++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), PATH_WORK, error));
        if (is_new(&parts[names[i].part])) new_count += stat_file(&files[new_count], names[i].path);
    }
    RETURN_IF_FAILED(sort_items(files, new_count, sizeof *files, compare_versions, error));
    *count = new_count;
    for (size_t i = 0; i < name_count; i++) {
        const struct shard_entry *entry = names[i].entry;
        if (!entry) continue;
        struct named_file indexed = {.stat.size = entry->file_size,
                                     .stat.mtime_ns = entry->mtime_ns};
        if (!bsearch(&indexed, files, new_count, sizeof *files, compare_versions)) continue;
        *count += stat_file(&files[*count], names[i].path);
    }
    return RECMAP_OK;
}

/* Warns of the first file that has several names: a shard may be meant to count twice. */
static recmap_status find_links(struct named_file *files, const struct build_part *parts,
                                const struct named_shard *names, size_t name_count,
                                recmap_error *error) {
    size_t count;
    RETURN_IF_FAILED(list_files(files, &count, parts, names, name_count, error));
    RETURN_IF_FAILED(sort_items(files, count, sizeof *files, compare_files, error));
    for (size_t i = 1; i < count; i++) {
        if (!file_is_same(&files[i - 1].stat, &files[i].stat)) continue;
        if (!strcmp(files[i - 1].path, files[i].path)) continue; /* parts of a shard that grew */
        warn_of_links(&files[i - 1], &files[i]);
        break;
    }
    return RECMAP_OK;
}

static recmap_status check_links(const struct build_part *parts, const struct named_shard *names,
                                 size_t count, recmap_error *error) {
    struct named_file *files = calloc(count + 1, sizeof *files);
    recmap_status status = files ? find_links(files, parts, names, count, error)
                                 : fail_memory(error);
    free(files);
    return status;
}

static recmap_status check_all_grown(struct build_part *parts, size_t count,
                                     recmap_storage *storage, recmap_error *error) {
    size_t new_count = 0;
    for (size_t i = 0; i < count; i++) new_count += is_new(&parts[i]);
    for (size_t i = 0; i < count; i++)
        if (parts[i].grown)
            RETURN_IF_FAILED(check_grown(&parts[i], storage, new_count != 0, error));
    return RECMAP_OK;
}

recmap_status named_shards_match(uint64_t *file_count, struct build_part *parts, size_t count,
                                 recmap_sets sets, recmap_storage *storage, recmap_error *error) {
    size_t total = 0, name_count = 0;
    for (size_t i = 0; i < count; i++) total += shard_count_of(&parts[i]);
    struct named_shard *names = calloc(total + 1, sizeof *names);
    if (!names) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        status = add_names(names, &name_count, parts, i, error);
    if (status == RECMAP_OK)
        status = match_names(file_count, parts, count, names, name_count, error);
    if (status == RECMAP_OK && sets == RECMAP_SETS_ERROR)
        status = check_copies(parts, names, name_count, error);
    if (status == RECMAP_OK && sets == RECMAP_SETS_ERROR)
        status = check_moved(parts, names, name_count, storage, error);
    if (status == RECMAP_OK && sets == RECMAP_SETS_ERROR)
        status = check_links(parts, names, name_count, error);
    for (size_t i = 0; i < name_count; i++) free(names[i].path);
    free(names);
    return status == RECMAP_OK ? check_all_grown(parts, count, storage, error) : status;
}
