/* A slot: one list wanted out of every record, and what its values become on their way into a sink.
 * Columns are made of slots: most of one, RAGGED and SPARSE of several. */
#ifndef RECMAP_EXAMPLE_SLOT_H
#define RECMAP_EXAMPLE_SLOT_H

#include <recmap/feature.h>

#include "example/buffer.h"

typedef struct slot {
    const char *name; /* the key of the feature, or of the feature list; UTF-8 */
    size_t name_size;
    recmap_type list;       /* the list that its values come from */
    recmap_element element; /* what they become; BYTES are kept as views whatever the column does */
    bool raw;               /* one bytes value, which holds elements */
    uint64_t count;    /* elements a row (of a feature list: a step), where that is fixed; else 0 */
    uint64_t multiple; /* of which their number is one, where it is not fixed; at least 1 */
    const void *fill;  /* `count` elements that stand for a missing feature; NULL: it must be
                          there, or, where the count is not fixed, the row has no values */
    bool steps;        /* a feature list whose steps hold any number of values each */
} slot;

/* Where the values of one slot go, row after row, while a batch is parsed. */
typedef struct sink {
    buffer values; /* elements, or recmap_bytes */
    uint64_t value_count;
    buffer rows;  /* int64: where each row begins, in values (with `steps`, in steps), and the
                     end; unused where the count is fixed and the slot is no feature list */
    buffer steps; /* int64: where each step begins, in values, and the end; `steps` only */
    uint64_t step_count;
    buffer validity; /* bits; nothing of it is used as long as null_count is 0 */
    uint64_t null_count;
} sink;

#endif
