/* Reads a sample of the records for the report. Records that cannot be read are listed, not errors.
 */
#ifndef RECMAP_TOOLS_REPORT_RECORDS_H
#define RECMAP_TOOLS_REPORT_RECORDS_H

#include "records/view.h"
#include "report/features.h"

enum { UNREADABLE_LISTED_MAX = 20 };

struct unreadable_record {
    uint64_t number;
    char *message;
};

struct record_sample {
    uint64_t size; /* how many records to read */
    uint64_t read_count;
    uint64_t unreadable_count;
    struct unreadable_record unreadable[UNREADABLE_LISTED_MAX];
    struct record_features features;
};

/* Reads sample->size records of the view. Reading ends early after 1000 records that cannot be
 * read. Deinit also after an error. Errors: CANCELLED; NO_MEMORY; CORRUPT (the index); IO if a
 * remote store fails. */
recmap_status record_sample_read(struct record_sample *sample, const struct view *view,
                                 recmap_error *error);
void record_sample_deinit(struct record_sample *sample);

/* True if the error concerns a record, so that others may be readable. */
bool record_error_is_local(const recmap_error *error);

#endif
