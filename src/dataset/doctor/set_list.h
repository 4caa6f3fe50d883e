/* The sets that the examined shards form, such as train and test. */
#ifndef RECMAP_DATASET_DOCTOR_SET_LIST_H
#define RECMAP_DATASET_DOCTOR_SET_LIST_H

#include "dataset/doctor/shard_list.h"
#include "format/shards/shard_sets.h"

/* Shards of further sets count as shards of the last one that is told apart. */
enum { SETS_MAX = 64, SET_TITLE_SIZE = 512 };

struct set_list {
    struct shard_sets sets; /* labels point into the paths of the shards */
    size_t count;           /* of those that are told apart */
};

/* Finds the sets, and sets the set of each shard and the numbers of records in each set. Deinit
 * also after an error. Errors: NO_MEMORY, CANCELLED. */
recmap_status set_list_init(struct set_list *list, struct shard_list *shards, recmap_error *error);
void set_list_deinit(struct set_list *list);

/* Writes the name of a set, without its folder unless sets in several folders are told apart. */
void set_list_write_title(char title[SET_TITLE_SIZE], const struct set_list *list, size_t set);

#endif
