/* A slot: one list wanted out of every record, and what its values become on their way into a sink.
 * Columns are made of slots: most of one, RAGGED and SPARSE of several. */
#ifndef RECMAP_PLAN_SLOT_H
#define RECMAP_PLAN_SLOT_H

#include <recmap/feature.h>

#include "plan/buffer.h"

struct slot {
    const char *name; /* the key of the feature, or of the feature list; UTF-8 */
    size_t name_size;
    recmap_type list;       /* the list that its values come from */
    recmap_element element; /* what they become; BYTES are kept as views whatever the column does */
    bool raw;               /* one bytes value, which holds elements */
    bool raw_big_endian;    /* in this byte order */
    bool raw_resized;       /* cut or padded to `count` elements */
    bool is_list;           /* of feature lists: a row has any number of steps */
    bool steps;             /* a feature list whose steps hold any number of values each */
    uint64_t count;    /* elements a row (of a feature list: a step), where that is fixed; else 0 */
    uint64_t multiple; /* of which their number is one, where it is not fixed; at least 1 */
    const void *fill;  /* `count` elements that stand for a missing feature; NULL: it must be
                          there, or, where the count is not fixed, the row has no values */
    const char *shape; /* of a row (of sequences: of a step), for messages: "[2, 3]"; "[]" for
                          a scalar */
};

/* Where the values of one slot go, row after row, while a batch is parsed. */
struct sink {
    struct buffer values; /* elements, or recmap_bytes */
    uint64_t value_count;
    struct buffer rows; /* int64: where each row begins, in values (with `steps`, in steps), and the
                    end; unused where the count is fixed and the slot is no feature list */
    struct buffer steps; /* int64: where each step begins, in values, and the end; `steps` only */
    uint64_t step_count;
    struct buffer validity; /* bits, all 1 when a batch begins: only a null must be noted, with
                        sink_set_null */
    uint64_t null_count;
};

/* Makes an empty sink for so many rows: room for fixed counts, the offsets and the validity of all,
 * the first offsets 0. What the sink held is dropped, its memory used again. False when memory is
 * out. */
bool sink_begin(struct sink *sink, const struct slot *slot, size_t row_count);
void sink_free(struct sink *sink);

/* Row `row` has no value. */
static inline void sink_set_null(struct sink *sink, size_t row) {
    sink->validity.data[row >> 3] &= (uint8_t) ~(1u << (row & 7));
    sink->null_count++;
}

/* Takes back what was read of row `row`, the last one. */
void sink_roll_back(struct sink *sink, const struct slot *slot, size_t row);

/* Gives row `row` a null: zeros, no values, or empty views. */
void sink_put_nothing(struct sink *sink, const struct slot *slot, size_t row);

#endif
