/* Sets of shards, whose names say how many there are: NAME-00000-of-00004END and so on. Short for
 * all of them is NAME@4END. Pure. */
#ifndef RECMAP_FORMAT_SHARDS_SET_NAME_H
#define RECMAP_FORMAT_SHARDS_SET_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "format/shards/copy_mark.h"

/* The largest set. */
enum { SET_SHARDS_MAX = 1000000 };

/* The parts point into the path. */
struct set_name {
    const char *path; /* NAME@4END */
    size_t name_size; /* bytes of NAME */
    unsigned count;   /* of shards, from 1 to SET_SHARDS_MAX */
    const char *end;  /* empty if nothing follows the number */
};

/* The text after NAME@, even if it is not a number; NULL if the path is not of that form. */
const char *set_name_find_count(const char *path);

/* Returns whether the path means a set. */
bool set_name_parse(struct set_name *set, const char *path);

/* Returns true for NAME@N and NAME@N.END with an N that no set has: 0, or more than the limit. */
bool set_name_is_impossible(const char *path);

/* The path of a shard, which the caller frees; NULL without memory. */
char *set_name_format(const struct set_name *set, unsigned number);

/* One of the names, with any number of digits. Numbers may lack zeros, as in x-1-of-12, and they
 * may count from 1, or be larger than the count, which no writer means. The parts point into the
 * path. */
struct set_member {
    const char *path;
    size_t stem_size; /* bytes before the number, often with a last - */
    int number_digits;
    int digits; /* of the count */
    unsigned number;
    unsigned count;
    size_t hash_size; /* of text such as -9f86d081884c7d65 after the count, another in each name */
    const char *end;  /* what follows */
    struct path_part copy_mark; /* in the name; may be empty */
};

/* Returns whether the path is one of a set. */
bool set_member_parse(struct set_member *member, const char *path);

/* Returns true if the pattern has the member's number, apart from the count: x-00003*. */
bool set_member_has_number(const struct set_member *member, const char *pattern);

/* Orders members by their sets: 0 for two of the same. A copy is in the set of its original. */
int set_member_compare_sets(const struct set_member *a, const struct set_member *b);

/* Writes the path of the member's set that has this number, with as many digits as the member's or
 * more, and with * for its hash; shortened to fit the capacity, which includes the NUL. */
void set_member_write(char *path, size_t capacity, const struct set_member *member,
                      unsigned number);

/* Writes the name of the member's set from `start`, a place in its path, on: NAME@N[END], or a
 * pattern if that does not name these files. Shortened to fit the capacity. Returns the size of the
 * complete name. */
size_t set_member_write_set(char *name, size_t capacity, const struct set_member *member,
                            const char *start);

/* Returns true if NAME@N[END] names the set of the member, which has the largest number and no mark
 * of a copy. */
bool set_member_has_short_name(const struct set_member *member);

#endif
