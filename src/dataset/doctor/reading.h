/* Reads the records of an examination, or a sample of them. */
#ifndef RECMAP_DATASET_DOCTOR_READING_H
#define RECMAP_DATASET_DOCTOR_READING_H

#include "dataset/doctor/examination.h"

/* What is done with records that can be read, a group at a time. */
typedef recmap_status (*reading_visit_fn)(void *context, const uint64_t *items,
                                          const recmap_record *records, size_t count,
                                          recmap_error *error);

struct reading_visit {
    reading_visit_fn function;
    void *context;
};

struct reading {
    const struct examination *examination;
    recmap_batch *batch;
    uint64_t size;       /* how many records are read, of all items */
    uint64_t bytes_read; /* in all passes */
    uint64_t done;       /* records, also in all passes */
    unsigned pass_count; /* how often the records are read */
    bool *bad_shards;    /* of the list: they cannot be read at all */
    bool reports_damage; /* in the first pass only */
};

/* Deinit also after an error. Errors: NO_MEMORY. */
recmap_status reading_init(struct reading *reading, const struct examination *examination,
                           recmap_error *error);
void reading_deinit(struct reading *reading);

/* Reads the records once, in their order. Those that cannot be read are findings of the first pass.
 * Errors: those of `visit`; CANCELLED by the progress function; IO if a remote store fails; CORRUPT
 * (the index). */
recmap_status reading_pass(struct reading *reading, struct reading_visit visit,
                           recmap_error *error);

#endif
