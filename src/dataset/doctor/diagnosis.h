/* The findings of an examination, and the records that they are about. */
#ifndef RECMAP_DATASET_DOCTOR_DIAGNOSIS_H
#define RECMAP_DATASET_DOCTOR_DIAGNOSIS_H

#include <stdbool.h>

#include <recmap/doctor.h>

/* X(NAME, the name of the check) */
#define DOCTOR_CHECKS(X)                                                                           \
    X(MISSING_SHARDS, "missing_shards")                                                            \
    X(SEVERAL_SETS, "several_sets")                                                                \
    X(METADATA, "metadata")                                                                        \
    X(DAMAGE, "damage")                                                                            \
    X(NO_RECORDS, "no_records")                                                                    \
    X(SHARD_SIZES, "shard_sizes")                                                                  \
    X(RECORD_SIZES, "record_sizes")                                                                \
    X(SEEK_POINTS, "seek_points")                                                                  \
    X(IDS, "ids")                                                                                  \
    X(OTHER_RECORDS, "other_records")                                                              \
    X(MISSING_FEATURES, "missing_features")                                                        \
    X(EMPTY_FEATURES, "empty_features")                                                            \
    X(FEATURE_KINDS, "feature_kinds")                                                              \
    X(FEATURE_LENGTHS, "feature_lengths")                                                          \
    X(NOT_FINITE, "not_finite")                                                                    \
    X(CONSTANTS, "constants")                                                                      \
    X(FLOAT_INTEGERS, "float_integers")                                                            \
    X(IMAGE_DAMAGE, "image_damage")                                                                \
    X(IMAGE_CMYK, "image_cmyk")                                                                    \
    X(IMAGE_ORIENTATION, "image_orientation")                                                      \
    X(IMAGE_DEPTH, "image_depth")                                                                  \
    X(IMAGE_NAMES, "image_names")                                                                  \
    X(EPISODE_LISTS, "episode_lists")                                                              \
    X(EPISODE_LENGTHS, "episode_lengths")                                                          \
    X(EPISODE_FLAGS, "episode_flags")                                                              \
    X(EQUAL_RECORDS, "equal_records")                                                              \
    X(LIMITS, "limits")

enum doctor_check {
#define DOCTOR_CHECK_ENUM(name, text) CHECK_##name,
    DOCTOR_CHECKS(DOCTOR_CHECK_ENUM)
#undef DOCTOR_CHECK_ENUM
        CHECK_COUNT
};

struct finding {
    enum doctor_check check;
    recmap_severity severity;
    char *shard; /* or NULL */
    uint64_t record;
    char *message;
    const char *advice; /* static */
};

/* How many findings of one check there were. */
struct check_count {
    size_t count;
    size_t left_out;          /* of those, not listed, */
    recmap_severity severity; /* the worst of which has this severity */
};

struct recmap_diagnosis {
    struct finding *findings;
    size_t count;
    size_t capacity;
    struct check_count checks[CHECK_COUNT];
    uint64_t record_count; /* of the data set, or of the given numbers */
    uint64_t read_count;
    uint64_t *records; /* that findings are about; sorted when the examination is complete */
    size_t listed_count;
    size_t listed_capacity;
    bool lists_records;
};

/* What a finding is about. `shard` may be NULL. */
struct finding_place {
    const char *shard;
    uint64_t record; /* or RECMAP_NO_RECORD */
};

/* How bad a finding is, and what to do: `advice` is a static string. */
struct finding_kind {
    enum doctor_check check;
    recmap_severity severity;
    const char *advice;
};

/* Adds a finding. Its message is one line, of which what must not reach a terminal is escaped.
 * Errors: NO_MEMORY. */
recmap_status diagnosis_add(struct recmap_diagnosis *diagnosis, struct finding_kind kind,
                            struct finding_place place, recmap_error *error, const char *format,
                            ...) __attribute__((format(printf, 5, 6)));

/* Notes that a record is bad, if records are listed and there is room. Errors: NO_MEMORY. */
recmap_status diagnosis_list_record(struct recmap_diagnosis *diagnosis, uint64_t record,
                                    recmap_error *error);

/* Adds a finding for each check of which some were left out, and sorts everything. Errors:
 * NO_MEMORY, CANCELLED. */
recmap_status diagnosis_finish(struct recmap_diagnosis *diagnosis, recmap_error *error);

#endif
