/* A walk over records in the order that its source gives, fetched in batches of bounded size. */
#ifndef RECMAP_ITERATE_H
#define RECMAP_ITERATE_H

#include <recmap/dataset.h>

/* Gives the next `count` numbers; is never asked for more than there are. */
typedef recmap_status (*number_source_next_fn)(void *context, uint64_t *numbers, size_t count,
                                               recmap_error *error);

struct number_source {
    uint64_t count; /* numbers in all */
    number_source_next_fn next;
    void *context;
};

/* Is given each record; anything but RECMAP_OK ends the walk. */
typedef recmap_status (*record_visit_fn)(void *context, const recmap_record *record,
                                         recmap_error *error);

/* Visits the records of the source. `report` (or NULL) is told of the payload bytes passed, and
 * can cancel. Errors: as recmap_dataset_gather, and CANCELLED. */
recmap_status iterate_records(recmap_dataset *dataset, struct number_source source,
                              record_visit_fn visit, void *context, recmap_progress_fn report,
                              void *report_context, recmap_error *error);

#endif
