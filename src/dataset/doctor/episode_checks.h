/* Examines records that are episodes: lists of steps, in the form of RLDS (features such as
 * "steps/action" and "steps/is_first" of a tf.Example) or of a tf.SequenceExample. */
#ifndef RECMAP_DATASET_DOCTOR_EPISODE_CHECKS_H
#define RECMAP_DATASET_DOCTOR_EPISODE_CHECKS_H

#include "dataset/doctor/feature_table.h"
#include "parse/example/record_parts.h"

enum { EPISODE_NAME_SIZE = 128 };

/* The names of the flags of steps. */
enum episode_flag { FLAG_FIRST, FLAG_LAST, FLAG_TERMINAL, FLAG_COUNT };

/* Zero-initialized, it is empty. */
struct episode_checks {
    uint64_t episode_count;
    struct occurrence empty;
    struct occurrence single;       /* of one step */
    struct occurrence maybe_single; /* a flag has one value, in a record that may be a step */
    struct occurrence unequal;      /* the lists differ in length */
    char unequal_names[2][EPISODE_NAME_SIZE]; /* of two such lists of the first, */
    uint64_t unequal_lengths[2];              /* and their lengths */
    struct occurrence flags[FLAG_COUNT];      /* a flag is out of place */
    bool has_flags; /* of any record with more than one step, or in lists */
};

/* Examines a record, whose features `seen` has in the same order; NULL where it lacks one. Returns
 * true if something is wrong with it. */
bool episode_checks_add(struct episode_checks *checks, const struct record_parts *parts,
                        struct feature_exam *const *seen, uint64_t item);

/* Adds the checks of later records. */
void episode_checks_merge(struct episode_checks *checks, const struct episode_checks *later);

const char *episode_flag_name(enum episode_flag flag);

/* Returns true for the feature of a flag, by its name. */
bool episode_flag_is_named(const char *name, size_t name_size);

#endif
