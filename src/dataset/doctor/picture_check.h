/* Examines values that are pictures, and decodes them completely, by several threads. */
#ifndef RECMAP_DATASET_DOCTOR_PICTURE_CHECK_H
#define RECMAP_DATASET_DOCTOR_PICTURE_CHECK_H

#include "dataset/doctor/examination.h"
#include "dataset/doctor/feature_exam.h"

struct picture_job;

/* Zero-initialized with an examination, it is empty. */
struct picture_check {
    const struct examination *examination;
    struct picture_job *jobs; /* pictures to be decoded */
    size_t count;
    size_t capacity;
};

/* Examines a value of an item's feature. Sets `format` to that of the picture, or -1 if it is none
 * or damaged. The bytes must live until picture_check_run. Errors: NO_MEMORY. */
recmap_status picture_check_add(int *format, struct picture_check *check,
                                struct feature_exam *feature, uint64_t item, const uint8_t *data,
                                size_t size, recmap_error *error);

/* Decodes the pictures that were added. Errors: NO_MEMORY. */
recmap_status picture_check_run(struct picture_check *check, recmap_error *error);
void picture_check_deinit(struct picture_check *check);

#endif
