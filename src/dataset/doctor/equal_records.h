/* Finds records with equal bytes, in bounded memory. */
#ifndef RECMAP_DATASET_DOCTOR_EQUAL_RECORDS_H
#define RECMAP_DATASET_DOCTOR_EQUAL_RECORDS_H

#include "dataset/doctor/examination.h"

/* The hash of a record. */
struct record_hash {
    uint64_t low, high;
    uint64_t item;
};

/* Zero-initialized, it is empty. If there are too many records, only those are kept whose hashes
 * end in `zeros` zero bits: equal records are kept or left out together. */
struct equal_records {
    struct record_hash *hashes;
    size_t count;
    size_t capacity;
    unsigned zeros;
};

/* Errors: NO_MEMORY. */
recmap_status equal_records_add(struct equal_records *records, uint64_t item, const void *data,
                                size_t size, recmap_error *error);

/* Adds later records, of which all hashes are kept. Errors: NO_MEMORY. */
recmap_status equal_records_merge(struct equal_records *records, const struct equal_records *later,
                                  recmap_error *error);

/* Adds findings about equal records of one set, and of different sets. Errors: NO_MEMORY,
 * CANCELLED. */
recmap_status equal_records_report(struct equal_records *records,
                                   const struct examination *examination, recmap_error *error);
void equal_records_deinit(struct equal_records *records);

#endif
