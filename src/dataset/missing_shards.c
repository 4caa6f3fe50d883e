/* Shards that are missing from a data set: if it has train-00000-of-00004.tfrecord, there are 4. */
#include <recmap/dataset.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "shards/set_name.h"

static int compare_members(const void *left, const void *right) {
    const struct set_member *a = left, *b = right;
    int order = set_member_compare_sets(a, b);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Adds the shards from number `start` up to but not including `stop` of a member's set. */
static void add_missing(recmap_missing_shards *missing, const struct set_member *member,
                        unsigned start, unsigned stop) {
    if (start >= stop) return;
    if (!missing->count) set_member_write(missing->first, sizeof missing->first, member, start);
    missing->count += stop - start;
}

/* The members are in the order of compare_members. */
static void find_gaps(recmap_missing_shards *missing, const struct set_member *members,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool is_first = !i || set_member_compare_sets(&members[i - 1], &members[i]);
        bool is_last = i + 1 == count || set_member_compare_sets(&members[i], &members[i + 1]);
        add_missing(missing, &members[i], is_first ? 0 : members[i - 1].number + 1,
                    members[i].number);
        if (is_last) add_missing(missing, &members[i], members[i].number + 1, members[i].count);
    }
}

recmap_status recmap_dataset_find_missing_shards(recmap_missing_shards *missing,
                                                 const recmap_dataset *dataset,
                                                 recmap_error *error) {
    uint64_t shard_count = recmap_dataset_get_info(dataset)->shard_count;
    *missing = (recmap_missing_shards){0};
    if (shard_count < 2) return RECMAP_OK;
    struct set_member *members = calloc(shard_count, sizeof *members);
    if (!members) return fail_memory(error);
    size_t count = 0;
    for (uint64_t i = 0; i < shard_count; i++) {
        recmap_shard_info info;
        if (recmap_dataset_get_shard(&info, dataset, i, NULL) == RECMAP_OK)
            count += set_member_parse(&members[count], info.path);
    }
    qsort(members, count, sizeof *members, compare_members);
    find_gaps(missing, members, count);
    free(members);
    return RECMAP_OK;
}
