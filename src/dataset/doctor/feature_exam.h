/* What the records have of one feature or feature list. */
#ifndef RECMAP_DATASET_DOCTOR_FEATURE_EXAM_H
#define RECMAP_DATASET_DOCTOR_FEATURE_EXAM_H

#include <stdbool.h>

#include <recmap/doctor.h>
#include <recmap/image.h>

#include "dataset/doctor/value_exam.h"

/* How many records something is true of, and the first of them. */
struct occurrence {
    uint64_t count;
    uint64_t first; /* an item */
};

/* Counts an item. Items come in ascending order; one that was just counted is not counted again. */
static inline void occurrence_add(struct occurrence *occurrence, uint64_t item, uint64_t *last) {
    if (occurrence->count && *last == item) return;
    if (!occurrence->count) occurrence->first = item;
    *last = item;
    occurrence->count++;
}

/* Adds what is true of later records. */
static inline void occurrence_merge(struct occurrence *occurrence, const struct occurrence *later) {
    if (!occurrence->count) occurrence->first = later->first;
    occurrence->count += later->count;
}

/* X(NAME): what may be true of a record's feature. */
#define FEATURE_TRAITS(X)                                                                          \
    X(EMPTY)            /* it has no values */                                                     \
    X(NAN)              /* a value is NaN, */                                                      \
    X(INFINITE)         /* or infinite, */                                                         \
    X(INEXACT)          /* or a float beyond its exact integers */                                 \
    X(PICTURE)          /* a value is a picture, */                                                \
    X(NO_PICTURE)       /* or is none that can be decoded, */                                      \
    X(DAMAGED_PICTURE)  /* or is one that cannot be decoded, */                                    \
    X(CMYK_PICTURE)     /* or is in print colours, */                                              \
    X(ORIENTED_PICTURE) /* or is stored turned or mirrored, */                                     \
    X(WIDE_PICTURE)     /* or has 16 bits for each channel */                                      \
    X(MISNAMED)         /* a value says that the record's picture has another format */

enum feature_trait {
#define FEATURE_TRAIT_ENUM(name) TRAIT_##name,
    FEATURE_TRAITS(FEATURE_TRAIT_ENUM)
#undef FEATURE_TRAIT_ENUM
        TRAIT_COUNT
};

/* Few lengths are told apart: a feature with more is ragged. */
enum { LENGTHS_MAX = 8, PICTURE_FAULT_SIZE = 160 };

struct length_count {
    uint64_t length;
    struct occurrence records;
};

struct feature_exam {
    const char *name; /* NUL-terminated; may also contain NULs */
    size_t name_size;
    bool is_list;
    bool is_flag;              /* of episodes, by its name */
    bool is_picture;           /* in other records of the data set */
    struct occurrence records; /* that have it, also empty */
    struct occurrence lacking; /* only `first` is known while records are added */
    struct occurrence traits[TRAIT_COUNT];
    uint64_t last[TRAIT_COUNT];
    struct occurrence kinds[4]; /* records with values of each recmap_type */
    struct length_count lengths[LENGTHS_MAX];
    size_t length_count;
    bool knows_lengths; /* `lengths` are those of earlier records, which have no room for more */
    bool has_length;    /* a record, or a step of a list, has a kind: */
    uint64_t min_length, max_length; /* of those that have one */
    struct value_exam values;
    struct occurrence other_lengths;        /* that there was no room for */
    uint64_t hash;                          /* of its bytes in the first record that has it */
    bool has_other_bytes;                   /* another record has other ones */
    bool is_of_episode;                     /* a list of one value or more for each step */
    char picture_fault[PICTURE_FAULT_SIZE]; /* why the first damaged picture cannot be decoded */
    uint64_t seen;                          /* the number of the last record that has it, among the
                                               records that have features */
    size_t place;                           /* among the features of that record */
    struct feature_exam *newer, *older;     /* in the order in which features were last seen */
};

/* Returns a malloc'ed feature with a copy of the name, or NULL if memory runs out. */
struct feature_exam *feature_exam_create(const uint8_t *name, size_t name_size, bool is_list);

/* Orders features before lists, then by the bytes of the names. */
int feature_exam_compare(const struct feature_exam *a, const struct feature_exam *b);

/* Counts that something is true of the feature in an item. */
static inline void feature_exam_note(struct feature_exam *feature, enum feature_trait trait,
                                     uint64_t item) {
    occurrence_add(&feature->traits[trait], item, &feature->last[trait]);
}

/* Adds the values of a record, or all steps of a feature list, which are sequence_steps(). Returns
 * the traits that a value made true: a bit 1 << feature_trait for each. */
unsigned feature_exam_add(struct feature_exam *feature, const struct example_feature *values,
                          uint64_t item);
unsigned feature_exam_add_list(struct feature_exam *feature, const struct example_feature *steps,
                               size_t count, uint64_t item);

/* Starts a feature of later records: if all lengths that are told apart are known from earlier
 * ones, which may be NULL, then no others are. */
void feature_exam_continue(struct feature_exam *feature, const struct feature_exam *earlier);

/* Returns true if all lengths are counted that earlier records may make known. */
static inline bool feature_exam_is_complete(const struct feature_exam *feature) {
    return feature->knows_lengths || !feature->other_lengths.count;
}

/* Adds a feature of later records, which is complete, to one of the same name. Does not concern
 * `lacking` and the order in which features were seen. */
void feature_exam_merge(struct feature_exam *feature, const struct feature_exam *later);

/* The length that most records have, as an index of `lengths`; SIZE_MAX without any. */
size_t feature_exam_usual_length(const struct feature_exam *feature);

/* The kind that most records have; NONE without values. */
recmap_type feature_exam_usual_kind(const struct feature_exam *feature);

/* Returns true if at least nineteen of twenty records with values have the usual length, and some
 * do not. */
bool feature_exam_has_odd_lengths(const struct feature_exam *feature);

/* How bad it is that records lack the feature, or have no values of it: NONE if none do. Of all
 * `record_count` records, few may lack it: that is a note. */
recmap_severity feature_exam_judge_lacking(const struct feature_exam *feature,
                                           uint64_t record_count);
recmap_severity feature_exam_judge_empty(const struct feature_exam *feature, uint64_t record_count);

/* Returns true if the feature's values are pictures, at least in half of the records, or in other
 * records of the data set. */
bool feature_exam_has_pictures(const struct feature_exam *feature);

/* Returns true if all values are the same. */
bool feature_exam_is_constant(const struct feature_exam *feature);

#endif
