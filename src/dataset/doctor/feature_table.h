/* The features and feature lists of the examined records, by their names. */
#ifndef RECMAP_DATASET_DOCTOR_FEATURE_TABLE_H
#define RECMAP_DATASET_DOCTOR_FEATURE_TABLE_H

#include "dataset/doctor/feature_exam.h"

enum { FEATURES_MAX = 1 << 16, RECENT_SIZE = 64, RECENT_PLACES = 4 };

/* The features of one record, each once, in its order. */
struct seen_features {
    struct feature_exam **features;
    size_t count;
    size_t capacity;
};

/* Zero-initialized, it is empty. */
struct feature_table {
    const struct feature_table *earlier; /* of earlier records, which later ones are added to; or
                                            NULL */
    size_t limit;                        /* of features; 0: FEATURES_MAX */
    struct feature_exam **features;      /* in the order in which they were first seen */
    size_t count;
    size_t capacity;
    bool is_full; /* a feature was left out */
    void *tree;   /* of tsearch: balanced, so that no choice of names makes it slow */
    struct feature_exam *recent[RECENT_SIZE][RECENT_PLACES]; /* found lately, by their hashes */
    struct feature_exam *newest; /* the list of all, by when they were last seen */
    struct seen_features seen;   /* in the current record */
    struct seen_features before; /* in the previous one */
    size_t cursor;               /* the place of the feature of `before` that is expected next */
    bool has_repeats;            /* a name was found twice in the current record */
    uint64_t record_count;
    uint64_t first_item; /* of the first record */
};

/* Starts a record: the features found until the next call of feature_table_end are its. */
void feature_table_begin(struct feature_table *table, uint64_t item);

/* Finds or adds a feature of the current record, which is fast if the previous record has its
 * features in the same order. Sets `feature` to NULL if there are too many.
 * Errors: NO_MEMORY. */
recmap_status feature_table_find(struct feature_exam **feature, struct feature_table *table,
                                 const uint8_t *name, size_t name_size, bool is_list,
                                 recmap_error *error);

/* Returns a feature by its name, or NULL. */
struct feature_exam *feature_table_look_up(struct feature_table *table, const uint8_t *name,
                                           size_t name_size, bool is_list);

/* Returns true if nothing was left out that a table of all records has. */
bool feature_table_is_complete(const struct feature_table *table);

/* Adds the features of later records, whose table is complete. Both together have at most
 * FEATURES_MAX. Errors: NO_MEMORY. */
recmap_status feature_table_merge(struct feature_table *table, const struct feature_table *later,
                                  recmap_error *error);

/* Ends the record: features that earlier records have and this one has not are lacking. */
void feature_table_end(struct feature_table *table, uint64_t item);

/* Counts the records that lack each feature, and sorts the features by their names, lists last. */
void feature_table_finish(struct feature_table *table);
void feature_table_deinit(struct feature_table *table);

#endif
