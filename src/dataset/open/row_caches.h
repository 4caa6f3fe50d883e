/* What a data set remembers of records for the rows that are cut from them. Made for the first
 * rows. */
#ifndef RECMAP_DATASET_OPEN_ROW_CACHES_H
#define RECMAP_DATASET_OPEN_ROW_CACHES_H

#include <recmap/dataset.h>

#include "dataset/long_records/list_marks.h"
#include "dataset/long_records/record_layouts.h"
#include "dataset/long_records/record_sums.h"
#include "dataset/long_records/verified.h"

struct row_caches {
    struct verified verified;
    struct list_marks_cache *marks;
    struct record_layouts *layouts;
    struct record_sums *sums;
};

/* NULL if memory runs out. Any thread may call it. */
struct row_caches *row_caches_of(recmap_dataset *dataset);

void row_caches_destroy(struct row_caches *caches);

#endif
