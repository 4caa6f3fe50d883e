/* Examines records by several threads. Each has an exam of its own for consecutive records; they
 * are then added to the exam of all records in the order of the records. The result is the same as
 * that of one thread. */
#ifndef RECMAP_DATASET_DOCTOR_EXAM_TEAM_H
#define RECMAP_DATASET_DOCTOR_EXAM_TEAM_H

#include "dataset/doctor/record_exam.h"

struct exam_part;

struct exam_team {
    struct record_exam *exam; /* of all records */
    unsigned thread_count;
    struct exam_part *parts; /* as many as there may be */
    size_t part_count;       /* of the current records */
    const uint64_t *items;   /* the current records */
    const recmap_record *records;
    size_t record_count;
};

/* Deinit also after an error. Errors: NO_MEMORY. */
recmap_status exam_team_init(struct exam_team *team, struct record_exam *exam, recmap_error *error);
void exam_team_deinit(struct exam_team *team);

/* Examines records completely. Items ascend. Errors: NO_MEMORY. */
recmap_status exam_team_add(struct exam_team *team, const uint64_t *items,
                            const recmap_record *records, size_t count, recmap_error *error);

#endif
