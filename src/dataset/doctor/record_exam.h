/* Examines records one by one, and keeps statistics of their features. */
#ifndef RECMAP_DATASET_DOCTOR_RECORD_EXAM_H
#define RECMAP_DATASET_DOCTOR_RECORD_EXAM_H

#include "dataset/doctor/episode_checks.h"
#include "dataset/doctor/equal_records.h"
#include "dataset/doctor/picture_check.h"

enum { OTHER_NAME_SIZE = 160 };

/* What a record is. Features are examined in records of the first two kinds. */
enum record_kind { RECORD_EXAMPLE, RECORD_SEQUENCE, RECORD_OTHER, RECORD_KIND_COUNT };

struct record_exam {
    const struct examination *examination;
    struct record_parts parts;                 /* of the current record */
    struct feature_table tables[RECORD_OTHER]; /* the features of the records of each kind */
    size_t required_count; /* features that a record should have; known when it is reported */
    struct feature_exam **entries; /* the features of the current record, or NULL, in its order */
    size_t entry_capacity;
    struct occurrence kinds[RECORD_KIND_COUNT];
    char other_name[OTHER_NAME_SIZE]; /* why the first other record is not an Example */
    struct picture_check pictures;
    struct episode_checks episodes;
    struct equal_records equal;
};

void record_exam_init(struct record_exam *exam, const struct examination *examination);
void record_exam_deinit(struct record_exam *exam);

/* Examines a record, whose bytes must live until record_exam_flush. Items ascend. Errors:
 * NO_MEMORY. */
recmap_status record_exam_add(struct record_exam *exam, uint64_t item, const recmap_record *record,
                              recmap_error *error);

/* Ends work on records that were added. Errors: NO_MEMORY. */
recmap_status record_exam_flush(struct record_exam *exam, recmap_error *error);

/* Makes an empty exam one of later records, which are then added to an exam of `earlier` ones. It
 * keeps at most `feature_limit` features of each kind of record. */
void record_exam_limit(struct record_exam *exam, const struct record_exam *earlier,
                       size_t feature_limit);

/* Returns true if nothing was left out that an exam of all records has. */
bool record_exam_is_complete(const struct record_exam *exam);

/* Adds later records, whose exam is complete. Errors: NO_MEMORY. */
recmap_status record_exam_merge(struct record_exam *exam, const struct record_exam *later,
                                recmap_error *error);

/* The number of features of the kind of records that has more of them. */
size_t record_exam_feature_count(const struct record_exam *exam);

/* Adds the findings about all records. Errors: NO_MEMORY, CANCELLED. */
recmap_status record_exam_report(struct record_exam *exam, recmap_error *error);

/* Adds the findings about one feature, of `record_count` records with features. */
recmap_status feature_exam_report(const struct feature_exam *feature,
                                  const struct examination *examination, uint64_t record_count,
                                  recmap_error *error);

/* The kind of the current record. */
static inline enum record_kind record_exam_kind(const struct record_exam *exam) {
    if (exam->parts.is_other) return RECORD_OTHER;
    return exam->parts.is_sequence ? RECORD_SEQUENCE : RECORD_EXAMPLE;
}

/* With the complete statistics: returns true if a record is one of those that errors or warnings
 * about features are about. */
bool record_exam_is_odd(struct record_exam *exam, const recmap_record *record);

#endif
