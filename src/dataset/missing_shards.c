/* Shards that the names of others announce: train-00000-of-00004.tfrecord is one of 4. */
#include <recmap/dataset.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "os/file.h"

/* Larger numbers in a name are not those of shards. */
enum { DIGITS_MAX = 7 };

/* A name STEMnumber-of-countEND. The numbers have `digits` digits each. */
struct member {
    const char *name;
    size_t stem_size; /* in bytes */
    int digits;
    unsigned number, count;
    const char *end;
};

static const char separator[] = "-of-";

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int count_digits(const char *text) {
    int count = 0;
    while (count <= DIGITS_MAX && is_digit(text[count])) count++;
    return count;
}

static int count_digits_before(const char *text, const char *start) {
    int count = 0;
    while (count <= DIGITS_MAX && text - count > start && is_digit(text[-count - 1])) count++;
    return count;
}

static const char *find_last_separator(const char *text) {
    const char *found = NULL;
    for (const char *next = text; (next = strstr(next, separator)); next++) found = next;
    return found;
}

/* False if the name is not of that form. */
static bool parse_member(struct member *member, const char *name) {
    const char *file = path_name(name), *of = find_last_separator(file);
    if (!of) return false;
    const char *count = of + strlen(separator);
    int digits = count_digits(count);
    if (!digits || digits > DIGITS_MAX || count_digits_before(of, file) != digits) return false;
    *member = (struct member){.name = name,
                              .stem_size = (size_t)(of - digits - name),
                              .digits = digits,
                              .number = (unsigned)strtoul(of - digits, NULL, 10),
                              .count = (unsigned)strtoul(count, NULL, 10),
                              .end = count + digits};
    return member->number < member->count;
}

/* 0 for members of the same set. */
static int compare_sets(const struct member *a, const struct member *b) {
    if (a->stem_size != b->stem_size) return a->stem_size < b->stem_size ? -1 : 1;
    int order = memcmp(a->name, b->name, a->stem_size);
    if (!order && a->count != b->count) order = a->count < b->count ? -1 : 1;
    if (!order) order = a->digits - b->digits;
    return order ? order : strcmp(a->end, b->end);
}

static int compare_members(const void *left, const void *right) {
    const struct member *a = left, *b = right;
    int order = compare_sets(a, b);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Adds the shards from number `start` up to but not including `stop` of a member's set. */
static void add_missing(recmap_missing_shards *missing, const struct member *member, unsigned start,
                        unsigned stop) {
    if (start >= stop) return;
    if (!missing->count)
        snprintf(missing->first, sizeof missing->first, "%.*s%0*u-of-%0*u%s",
                 (int)member->stem_size, member->name, member->digits, start, member->digits,
                 member->count, member->end);
    missing->count += stop - start;
}

/* The members are in the order of compare_members. */
static void find_gaps(recmap_missing_shards *missing, const struct member *members, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool is_first = !i || compare_sets(&members[i - 1], &members[i]);
        bool is_last = i + 1 == count || compare_sets(&members[i], &members[i + 1]);
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
    struct member *members = calloc(shard_count, sizeof *members);
    if (!members) return fail_memory(error);
    size_t count = 0;
    for (uint64_t i = 0; i < shard_count; i++) {
        recmap_shard_info info;
        if (recmap_dataset_get_shard(&info, dataset, i, NULL) == RECMAP_OK)
            count += parse_member(&members[count], info.path);
    }
    qsort(members, count, sizeof *members, compare_members);
    find_gaps(missing, members, count);
    free(members);
    return RECMAP_OK;
}
