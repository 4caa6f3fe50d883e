/* The draws of records and rows. */
#ifndef RECMAP_PARSE_COLUMNS_DRAWS_H
#define RECMAP_PARSE_COLUMNS_DRAWS_H

#include <recmap/batch.h>
#include <recmap/image.h>

/* The draw at `index`. `number` is the record's own. */
static inline recmap_image_draw draws_get(const recmap_draws *draws, size_t index,
                                          uint64_t number) {
    return (recmap_image_draw){draws->seed, draws->epoch,
                               draws->numbers ? draws->numbers[index] : number,
                               draws->repeats ? draws->positions[index] : RECMAP_NO_RECORD};
}

#endif
