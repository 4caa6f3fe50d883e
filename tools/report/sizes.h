/* The sizes of records, from the index alone: of all records, or of runs that are
 * evenly spaced. */
#ifndef RECMAP_TOOLS_REPORT_SIZES_H
#define RECMAP_TOOLS_REPORT_SIZES_H

#include "records/view.h"
#include "report/histogram.h"

struct record_sizes {
    uint64_t count;    /* how many were read */
    uint64_t *sizes;   /* ascending */
    uint64_t smallest; /* position in the view of the first record of the smallest size, */
    uint64_t largest;  /* and of the largest */
    double sum;
};

/* Reads sizes. Deinit also after an error. Errors: CORRUPT (the index), NO_MEMORY, CANCELLED. */
recmap_status record_sizes_init(struct record_sizes *sizes, const struct view *view,
                                recmap_error *error);
void record_sizes_deinit(struct record_sizes *sizes);

#endif
