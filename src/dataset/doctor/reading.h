/* Reads the records of an examination, or a sample of them. */
#ifndef RECMAP_DATASET_DOCTOR_READING_H
#define RECMAP_DATASET_DOCTOR_READING_H

#include "dataset/doctor/record_exam.h"

/* What is done with each record that can be read. */
typedef recmap_status (*reading_visit_fn)(struct record_exam *exam, uint64_t item,
                                          const recmap_record *record, recmap_error *error);

struct reading {
    struct record_exam *exam;
    recmap_batch *batch;
    uint64_t size;       /* how many records are read, of all items */
    uint64_t bytes_read; /* in all passes */
    uint64_t done;       /* records, also in all passes */
    unsigned pass_count; /* how often the records are read */
    bool *bad_shards;    /* of the list: they cannot be read at all */
    bool reports_damage; /* in the first pass only */
};

/* Deinit also after an error. Errors: NO_MEMORY. */
recmap_status reading_init(struct reading *reading, struct record_exam *exam, recmap_error *error);
void reading_deinit(struct reading *reading);

/* Reads the records once, in their order. Those that cannot be read are findings of the first pass.
 * Errors: those of `visit`; CANCELLED by the progress function; IO if a remote store fails; CORRUPT
 * (the index). */
recmap_status reading_pass(struct reading *reading, reading_visit_fn visit, recmap_error *error);

#endif
