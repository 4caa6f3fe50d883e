/* The files that an examination is about: those of a data set, or those that were named. */
#ifndef RECMAP_DATASET_DOCTOR_SHARD_LIST_H
#define RECMAP_DATASET_DOCTOR_SHARD_LIST_H

#include <stdbool.h>

#include <recmap/dataset.h>
#include <recmap/shards.h>

#define COUNT_UNKNOWN UINT64_MAX

struct listed_shard {
    char *path;            /* where it is */
    const char *name;      /* how findings call it: the path, or what was named */
    uint64_t record_count; /* of the index, or COUNT_UNKNOWN without one */
    uint64_t byte_count;   /* of its file in the index */
    uint64_t payload_size; /* of its records, or COUNT_UNKNOWN */
    size_t set;            /* the number of its set; see set_list.h */
    bool is_described;     /* metadata beside it names it */
    bool is_missing;       /* there is no such file */
};

/* A part of a file with consecutive records: a file that grew has several. */
struct listed_entry {
    size_t shard;
    uint64_t first_record;
    uint64_t record_count;
    uint64_t first_in_set; /* the number of its first record among those of its set */
};

struct shard_list {
    struct listed_shard *shards;
    size_t count;
    struct listed_entry *entries; /* in the order of the records; NULL without an index */
    size_t entry_count;
};

/* Lists the shards of a data set. `named` may be NULL. Deinit also after an error. Errors:
 * NO_MEMORY. */
recmap_status shard_list_init(struct shard_list *list, const recmap_dataset *dataset,
                              const recmap_shards *named, recmap_error *error);

/* Lists shards without an index. */
recmap_status shard_list_init_named(struct shard_list *list, const recmap_shards *named,
                                    recmap_error *error);
void shard_list_deinit(struct shard_list *list);

/* The entry that has a record, whose number is below that of all records. */
const struct listed_entry *shard_list_find(const struct shard_list *list, uint64_t number);

#endif
