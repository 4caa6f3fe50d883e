#include "index/build/named_shards.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "index/build/replay.h"

enum { NAME_WORK = 256 /* for the interrupt, in bytes: copying a name */ };

static size_t shard_count_of(const struct build_part *part) {
    return part->index ? (size_t)index_manifest(part->index)->shard_count : 1;
}

static recmap_status add_part(struct named_shards *list, size_t part_index, recmap_error *error) {
    const struct build_part *part = &list->parts[part_index];
    for (size_t i = 0; i < shard_count_of(part); i++) {
        const struct index_shard *shard = part->index ? &index_shards(part->index)[i] : NULL;
        char *path = shard ? replay_shard_path(shard, part->resolved) : strdup(part->resolved);
        if (!path) return fail_memory(error);
        list->shards[list->count] = (struct named_shard){path, list->count, part_index, (uint32_t)i,
                                                         shard ? &shard->entry : NULL};
        list->count++;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), NAME_WORK, error));
    }
    return RECMAP_OK;
}

recmap_status named_shards_init(struct named_shards *list, struct build_part *parts, size_t count,
                                recmap_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += shard_count_of(&parts[i]);
    *list = (struct named_shards){calloc(total + 1, sizeof *list->shards), 0, parts, count};
    if (!list->shards) return fail_memory(error);
    for (size_t i = 0; i < count; i++) RETURN_IF_FAILED(add_part(list, i, error));
    return RECMAP_OK;
}

void named_shards_deinit(struct named_shards *list) {
    for (size_t i = 0; i < list->count; i++) free(list->shards[i].path);
    free(list->shards);
    *list = (struct named_shards){0};
}

bool named_shards_is_new(const struct named_shards *list, const struct named_shard *shard) {
    return build_part_is_new(&list->parts[shard->part]);
}

recmap_status named_shards_sort(struct named_shard ***sorted, const struct named_shards *list,
                                int (*compare)(const void *a, const void *b), recmap_error *error) {
    *sorted = malloc((list->count + 1) * sizeof **sorted);
    if (!*sorted) return fail_memory(error);
    for (size_t i = 0; i < list->count; i++) (*sorted)[i] = &list->shards[i];
    recmap_status status = sort_items(*sorted, list->count, sizeof **sorted, compare, error);
    if (status == RECMAP_OK) return RECMAP_OK;
    free(*sorted);
    *sorted = NULL;
    return status;
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

static recmap_status match_sorted(uint64_t *file_count, const struct named_shards *list,
                                  struct named_shard *const *sorted, recmap_error *error) {
    *file_count = list->count;
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(sorted[i - 1]->path, sorted[i]->path) != 0) continue;
        RETURN_IF_FAILED(match(list->parts, sorted[i - 1], sorted[i], error));
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
static recmap_status check_targets(const struct named_shards *list,
                                   struct named_shard *const *sorted, recmap_error *error) {
    for (size_t i = 0; i < list->part_count; i++) {
        const struct build_part *part = &list->parts[i];
        if (part->target &&
            bsearch(part->target, sorted, list->count, sizeof *sorted, compare_path))
            return fail_link(part, error);
    }
    return RECMAP_OK;
}

recmap_status named_shards_match(uint64_t *file_count, const struct named_shards *list,
                                 recmap_error *error) {
    struct named_shard **sorted;
    RETURN_IF_FAILED(named_shards_sort(&sorted, list, compare_shards, error));
    recmap_status status = match_sorted(file_count, list, sorted, error);
    if (status == RECMAP_OK) status = check_targets(list, sorted, error);
    free(sorted);
    return status;
}
