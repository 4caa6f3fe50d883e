/* Shards that are missing from a data set: if it has train-00000-of-00004.tfrecord, there are 4. */
#include <recmap/dataset.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "dataset/open/dataset.h"
#include "format/shards/set_name.h"

static int compare_members(const void *left, const void *right) {
    const struct set_member *a = left, *b = right;
    int order = set_member_compare_sets(a, b);
    return order ? order : (a->number > b->number) - (a->number < b->number);
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

/* Compares a set with what its names say. The members are sorted by their numbers, which count from
 * 1 if the last one is there and 0 is not. A number may be repeated: parts of a shard that grew. */
static void check_set(recmap_missing_shards *missing, const struct set_member *members,
                      size_t count) {
    bool has_last = false;
    struct set_member pattern = members[0]; /* with the fewest digits: others may need more */
    for (size_t i = 0; i < count; i++) {
        has_last |= members[i].number == members[i].count;
        if (members[i].number_digits < pattern.number_digits) pattern = members[i];
    }
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
static void check_sets(recmap_missing_shards *missing, const struct set_member *members,
                       size_t count) {
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (set_member_compare_sets(&members[first], &members[end])) break;
        check_set(missing, members + first, end - first);
    }
}

recmap_status recmap_dataset_find_missing_shards(recmap_missing_shards *missing,
                                                 const recmap_dataset *dataset,
                                                 recmap_error *error) {
    uint64_t shard_count = recmap_dataset_get_info(dataset)->shard_count;
    *missing = (recmap_missing_shards){0};
    struct set_member *members = calloc(shard_count + 1, sizeof *members);
    if (!members) return fail_memory(error);
    size_t count = 0;
    for (uint64_t i = 0; i < shard_count; i++) {
        recmap_shard_info info;
        if (recmap_dataset_get_shard(&info, dataset, i, NULL) == RECMAP_OK)
            count += set_member_parse(&members[count], info.path);
    }
    qsort(members, count, sizeof *members, compare_members);
    check_sets(missing, members, count);
    free(members);
    return RECMAP_OK;
}
