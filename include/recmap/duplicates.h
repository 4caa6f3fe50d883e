/* Exact duplicates among records, and records without an id of their own. */
#ifndef RECMAP_DUPLICATES_H
#define RECMAP_DUPLICATES_H

#include <recmap/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recmap_duplicates_options {
    uint32_t version;    /* RECMAP_DUPLICATES_OPTIONS_VERSION */
    const char *feature; /* records are equal if they have equal values of this feature or feature
                            list; records without it equal none. NULL: if their payloads are equal
                          */
    int by_id;           /* not 0: if their ids are equal; `feature` is then not used. Only records
                            whose ids may repeat are read; else each record is read once */
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
} recmap_duplicates_options;

#define RECMAP_DUPLICATES_OPTIONS_VERSION 1
#define RECMAP_DUPLICATES_OPTIONS_INIT                                                             \
    { RECMAP_DUPLICATES_OPTIONS_VERSION, NULL, 0, NULL, NULL }

/* Finds for each of `count` records, given by their numbers, the first one that is equal: firsts[i]
 * is the smallest k for which record numbers[k] equals record numbers[i], so that firsts[i] is i
 * unless record i is a duplicate. `numbers` may be NULL for records 0 to count - 1.
 *
 * NULL options are the defaults. 128-bit hashes are compared, so two records that differ are taken
 * for equal with a probability of about 10^-38 for each pair.
 *
 * Errors: INVALID if a number is out of range, or if the index has no ids or has them from a
 * callback; FEATURE if no record has the feature; CORRUPT for a record that is neither tf.Example
 * nor tf.SequenceExample if features are compared; CANCELLED by the progress callback;
 * else as recmap_dataset_gather. Cost: one pass over the records, and 48 bytes of memory for
 * each. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find_duplicates(
    uint64_t *firsts, recmap_dataset *dataset, const uint64_t *numbers, size_t count,
    const recmap_duplicates_options *options, recmap_error *error);

enum { RECMAP_REPEATED_IDS_MAX = 20 }; /* that are listed */

typedef struct recmap_repeated_id {
    uint64_t record; /* has the id */
    uint64_t first;  /* of record `first` */
} recmap_repeated_id;

/* What is wrong with the ids of records. Records are given by their positions in `numbers`. */
typedef struct recmap_repeated_ids {
    int is_known;    /* 0: the records have no ids, or are more than 4 million; the rest is 0 */
    int is_estimate; /* not 0: too many ids repeat, or they cannot be compared; `count` is then the
                        number of equal hashes, and none is listed */
    uint64_t count;  /* records whose id an earlier record has */
    recmap_repeated_id listed[RECMAP_REPEATED_IDS_MAX]; /* the first ones */
    size_t listed_count;
    uint64_t missing_count; /* records without an id, */
    uint64_t first_missing; /* and the first of them */
    uint64_t reserved[4];   /* 0; room for later versions */
} recmap_repeated_ids;

/* Finds which of `count` records, given by their numbers, have the id of an earlier one or none.
 * `numbers` may be NULL for records 0 to count - 1. Hashes are compared, and then the ids of
 * records with equal hashes. Errors: INVALID if a number is out of range; CORRUPT (the index);
 * NO_MEMORY; CANCELLED. Cost: 16 bytes of memory for each record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find_repeated_ids(recmap_repeated_ids *ids,
                                                                           recmap_dataset *dataset,
                                                                           const uint64_t *numbers,
                                                                           size_t count,
                                                                           recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
