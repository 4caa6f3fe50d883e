/* Shards that are missing from a data set: if it has train-00000-of-00004.tfrecord, there are 4. */
#include "dataset/describe/missing_shards.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "dataset/open/dataset.h"
#include "format/shards/set_name.h"

static int compare_numbers(const struct set_member *a, const struct set_member *b) {
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_members(const void *left, const void *right) {
    int order = set_member_compare_sets(left, right);
    return order ? order : compare_numbers(left, right);
}

static struct set_member without_folder(const struct set_member *member) {
    struct set_member named = *member;
    for (size_t i = member->stem_size; i > 0 && member->path[i - 1] != '/'; i--)
        named.path = member->path + i - 1;
    named.stem_size -= (size_t)(named.path - member->path);
    return named;
}

static int compare_names(const void *left, const void *right) {
    struct set_member a = without_folder(left), b = without_folder(right);
    int order = set_member_compare_sets(&a, &b);
    return order ? order : compare_numbers(&a, &b);
}

static void add_missing(recmap_missing_shards *missing, const struct set_member *member,
                        unsigned start, unsigned stop) {
    if (start >= stop) return;
    if (!missing->count) set_member_write(missing->first, sizeof missing->first, member, start);
    missing->count += stop - start;
}

static void add_surplus(recmap_missing_shards *missing, const struct set_member *member) {
    if (!missing->surplus_count)
        snprintf(missing->surplus, sizeof missing->surplus, "%s", member->path);
    missing->surplus_count++;
}

/* Missing shards are named like a member without the mark of a copy, if there is one. They get the
 * fewest digits of any member: others may need more. */
static struct set_member find_pattern(const struct set_member *members, size_t count) {
    struct set_member pattern = members[0];
    int digits = pattern.number_digits;
    for (size_t i = 1; i < count; i++) {
        if (members[i].number_digits < digits) digits = members[i].number_digits;
        if (pattern.copy_mark.size && !members[i].copy_mark.size) pattern = members[i];
    }
    pattern.number_digits = digits;
    return pattern;
}

/* Compares a set with what its names say. The members are sorted by their numbers, which count from
 * 1 if the last one is there and 0 is not. A number may be repeated: parts of a shard that grew. */
static void check_set(recmap_missing_shards *missing, const struct set_member *members,
                      size_t count) {
    bool has_last = false;
    struct set_member pattern = find_pattern(members, count);
    for (size_t i = 0; i < count; i++) has_last |= members[i].number == members[i].count;
    unsigned start = has_last && members[0].number ? 1 : 0, end = start + pattern.count;
    unsigned next = start;
    for (size_t i = 0; i < count; i++) {
        unsigned number = members[i].number;
        if (number >= end) {
            if (!i || number != members[i - 1].number) add_surplus(missing, &members[i]);
            continue;
        }
        add_missing(missing, &pattern, next, number);
        next = number + 1;
    }
    add_missing(missing, &pattern, next, end);
}

/* The members are in the order of compare_members. */
static void check_folders(recmap_missing_shards *missing, const struct set_member *members,
                          size_t count) {
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (set_member_compare_sets(&members[first], &members[end])) break;
        check_set(missing, members + first, end - first);
    }
}

/* Returns true if no two files have the same number: the members are one set, of any folders. */
static bool is_one_set(const struct set_member *members, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (members[i - 1].number == members[i].number &&
            strcmp(members[i - 1].path, members[i].path) != 0)
            return false;
    return true;
}

/* The members are in the order of compare_names. Sets of one name in several folders are one set
 * that is spread over them, unless numbers repeat. */
static void check_sets(recmap_missing_shards *missing, struct set_member *members, size_t count) {
    for (size_t first = 0, end; first < count; first = end) {
        struct set_member name = without_folder(&members[first]);
        for (end = first + 1; end < count; end++) {
            struct set_member other = without_folder(&members[end]);
            if (set_member_compare_sets(&name, &other)) break;
        }
        if (is_one_set(members + first, end - first)) {
            check_set(missing, members + first, end - first);
        } else {
            qsort(members + first, end - first, sizeof *members, compare_members);
            check_folders(missing, members + first, end - first);
        }
    }
}

recmap_status missing_shards_find(recmap_missing_shards *missing, char *const *paths, size_t count,
                                  recmap_error *error) {
    *missing = (recmap_missing_shards){0};
    struct set_member *members = calloc(count + 1, sizeof *members);
    if (!members) return fail_memory(error);
    size_t member_count = 0;
    for (size_t i = 0; i < count; i++)
        member_count += set_member_parse(&members[member_count], paths[i]);
    qsort(members, member_count, sizeof *members, compare_names);
    check_sets(missing, members, member_count);
    free(members);
    return RECMAP_OK;
}

recmap_status recmap_dataset_find_missing_shards(recmap_missing_shards *missing,
                                                 const recmap_dataset *dataset,
                                                 recmap_error *error) {
    uint64_t shard_count = recmap_dataset_get_info(dataset)->shard_count;
    char **paths = calloc(shard_count + 1, sizeof *paths);
    if (!paths) return fail_memory(error);
    size_t count = 0;
    for (uint64_t i = 0; i < shard_count; i++) {
        recmap_shard_info info;
        if (recmap_dataset_get_shard(&info, dataset, i, NULL) == RECMAP_OK)
            paths[count++] = (char *)info.path;
    }
    recmap_status status = missing_shards_find(missing, paths, count, error);
    free(paths);
    return status;
}
