/* A plan: what a parser compiled its features into. Slots say what is read out of each record,
 * column plans how columns are put together from the slots' sinks when all rows have been read. */
#ifndef RECMAP_EXAMPLE_PLAN_H
#define RECMAP_EXAMPLE_PLAN_H

#include <recmap/parser.h>

#include "example/heads.h"
#include "example/names.h"
#include "example/slot.h"

/* How one column is made. */
typedef struct column_plan {
    recmap_feature feature; /* everything in it is the plan's own */
    bool is_list;           /* of the feature lists of a SequenceExample */
    size_t values_slot;
    const size_t *other_slots; /* one a partition (SIZE_MAX for a uniform one) or index key */
} column_plan;

/* Slots of one map of features: those of an Example or of a context, or those of feature lists. */
typedef struct slot_set {
    slot *slots;
    size_t count;
    example_names *names; /* their names, in the same order; several slots may have one name */
    heads *heads;         /* for the fast path; NULL for feature lists */
} slot_set;

struct recmap_parser {
    unsigned users; /* atomic */
    bool is_sequence;
    slot_set features; /* of the Example or the context */
    slot_set lists;    /* of a SequenceExample */
    column_plan *columns;
    size_t column_count;
    size_t context_count; /* columns of the features; those of lists follow */
};

#endif
