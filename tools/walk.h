/* A walk over records in order, all of a range or a sample spread over it, fetched in batches of
 * bounded size. */
#ifndef RECMAP_WALK_H
#define RECMAP_WALK_H

#include <recmap/dataset.h>

typedef struct walk_range {
    uint64_t first;
    uint64_t count;  /* the range is [first, first + count) */
    uint64_t sample; /* how many records to visit, at most count */
} walk_range;

/* Is given each record; anything but RECMAP_OK ends the walk. */
typedef recmap_status (*walk_fn)(void *context, const recmap_record *record, recmap_error *error);

/* Visits the records of the range. `report` (or NULL) is told of the payload bytes passed, and
 * can cancel. Errors: as recmap_dataset_gather, and CANCELLED. */
recmap_status walk_records(recmap_dataset *dataset, walk_range range, walk_fn visit, void *context,
                           recmap_progress_fn report, void *report_context, recmap_error *error);

#endif
