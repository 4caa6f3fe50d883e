/* Visits records in the order of their source, fetching them in batches of bounded size. */
#ifndef RECMAP_TOOLS_RECORDS_ITERATE_H
#define RECMAP_TOOLS_RECORDS_ITERATE_H

#include <recmap/dataset.h>

/* Returns the next `count` numbers. The sum of all counts never exceeds number_source.count. */
typedef recmap_status (*number_source_next_fn)(void *context, uint64_t *numbers, size_t count,
                                               recmap_error *error);

struct number_source {
    uint64_t count; /* how many numbers */
    number_source_next_fn next;
    void *context;
};

/* Called for each record; any status but RECMAP_OK ends the iteration. */
typedef recmap_status (*record_visit_fn)(void *context, const recmap_record *record,
                                         recmap_error *error);

/* Calls `visit` for each record of the source. `report` (may be NULL) gets the payload bytes
 * visited so far, and may cancel. Errors: those of recmap_dataset_gather and `visit`, and
 * CANCELLED. */
recmap_status iterate_records(recmap_dataset *dataset, struct number_source source,
                              record_visit_fn visit, void *context, recmap_progress_fn report,
                              void *report_context, recmap_error *error);

#endif
