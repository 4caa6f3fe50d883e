/* A slot: one list to read from every record, and how to convert its values. Most columns need one
 * slot, RAGGED and SPARSE columns several. */
#ifndef RECMAP_PARSE_PLAN_SLOT_H
#define RECMAP_PARSE_PLAN_SLOT_H

#include <recmap/feature.h>

#include "parse/plan/buffer.h"

struct slot {
    recmap_feature_kind kind; /* of the feature, for advice; 0 for partitions and indices */
    const char *name;         /* key of the feature or feature list, UTF-8 */
    size_t name_size;
    recmap_type list;       /* the kind of list that holds the values */
    recmap_element element; /* the result type; BYTES are kept as views in any case */
    bool raw;               /* bytes values that contain the elements, equally many in each */
    bool raw_big_endian;    /* their byte order */
    bool raw_zlib;          /* each value is a ZLIB stream of the elements */
    bool raw_resized;       /* a single value, truncated or padded to `count` elements */
    bool is_list;           /* a feature list: a row has any number of steps */
    bool steps;             /* a feature list with any number of values per step */
    uint64_t count;         /* elements per row (feature lists: per step) if fixed, otherwise 0 */
    uint64_t multiple;      /* if not fixed, their number must be a multiple of this; at least 1 */
    uint64_t limit;         /* values of a row that are kept, the first ones; 0: all */
    const void *fill; /* `count` elements that replace a missing feature. If NULL, a missing feature
                         is an error if the count is fixed; otherwise the row is empty */
    bool is_exact;    /* nothing is written past the end of a row */
    const char *shape; /* of a row (sequences: of a step) for messages, such as "[2, 3]", or "[]"
                          for a scalar */
    const uint64_t *sizes;  /* the same as numbers */
    size_t dimension_count; /* of `sizes` */
};

/* Receives the values of one slot, row after row, while a batch is parsed. */
struct sink {
    struct buffer values; /* elements or recmap_bytes */
    uint64_t value_count;
    struct buffer rows;  /* int64: the index in `values` (with `steps`, in `steps`) where each row
                              starts, and the end; unused for fixed counts outside feature lists */
    struct buffer steps; /* int64: the index in `values` where each step starts, and the end; only
                            with slot->steps */
    uint64_t step_count;
    struct buffer validity; /* one bit per row, all 1 at the start of a batch: only nulls must be
                                 recorded, with sink_set_null */
    uint64_t null_count;
};

/* Empties a sink and prepares it for `row_count` rows: reserves the values of fixed counts, the
 * offsets and the validity of all rows, and sets the first offsets to 0. Reuses the sink's memory.
 * Returns false if memory runs out. */
bool sink_init(struct sink *sink, const struct slot *slot, size_t row_count);
void sink_deinit(struct sink *sink);

/* Marks row `row` as null. */
static inline void sink_set_null(struct sink *sink, size_t row) {
    sink->validity.data[row >> 3] &= (uint8_t) ~(1u << (row & 7));
    sink->null_count++;
}

/* Reserves room for the `count` values of row `row`, the last one, whose number is not fixed, and
 * returns it, or NULL if memory runs out. */
void *sink_extend(struct sink *sink, const struct slot *slot, size_t row, uint64_t count);

/* Removes the values of row `row`, which must be the last one. */
void sink_roll_back(struct sink *sink, const struct slot *slot, size_t row);

/* Makes row `row` null and gives it zeros, no values or empty views. */
void sink_put_null(struct sink *sink, const struct slot *slot, size_t row);

/* Leaves out the values of each row beyond the slot's limit. Call it after the last row. */
void sink_truncate_rows(struct sink *sink, const struct slot *slot, size_t row_count);

#endif
