/* A walk over records in the order that its source gives, fetched in batches of bounded size. */
#ifndef RECMAP_WALK_H
#define RECMAP_WALK_H

#include <recmap/dataset.h>

/* Gives the next `count` numbers; is never asked for more than there are. */
typedef recmap_status (*walk_next_fn)(void *context, uint64_t *numbers, size_t count,
                                      recmap_error *error);

typedef struct walk_source {
    uint64_t count; /* numbers in all */
    walk_next_fn next;
    void *context;
} walk_source;

/* Is given each record; anything but RECMAP_OK ends the walk. */
typedef recmap_status (*walk_fn)(void *context, const recmap_record *record, recmap_error *error);

/* Visits the records of the source. `report` (or NULL) is told of the payload bytes passed, and
 * can cancel. Errors: as recmap_dataset_gather, and CANCELLED. */
recmap_status walk_records(recmap_dataset *dataset, walk_source source, walk_fn visit,
                           void *context, recmap_progress_fn report, void *report_context,
                           recmap_error *error);

#endif
