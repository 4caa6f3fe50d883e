/* A plan: what a parser compiled its features into. Slots say what is read out of each record,
 * column plans how columns are put together from the slots' sinks when all rows have been read. */
#ifndef RECMAP_PLAN_PLAN_H
#define RECMAP_PLAN_PLAN_H

#include <stdatomic.h>

#include <recmap/parser.h>

#include "example/names.h"
#include "plan/arena.h"
#include "plan/heads.h"
#include "plan/slot.h"

/* How one column is made. */
struct column_plan {
    recmap_feature feature;    /* everything in it is the plan's own; `key` is never NULL */
    bool is_list;              /* of the feature lists of a SequenceExample */
    size_t values_slot;        /* in features, or, with is_list, in lists */
    const size_t *other_slots; /* one a partition (SIZE_MAX for a uniform one) or index key */
    uint64_t stride;           /* elements in `shape` */
    const void *pad;           /* FIXED_LEN_SEQUENCE: one element */
};

/* Slots of one map of features: those of an Example or of a context, or those of feature lists. */
struct slot_set {
    struct slot *slots;
    size_t count;
    struct example_names
        *names;          /* their names, in the same order; several slots may have one name */
    struct heads *heads; /* for the fast path; NULL for feature lists */
};

struct recmap_parser {
    atomic_uint users;
    bool is_sequence;
    recmap_parse_fn own_parse; /* a function of the user's that reads records, or NULL */
    void *own_context;
    struct slot_set features; /* of the Example or the context */
    struct slot_set lists;    /* of a SequenceExample */
    struct column_plan *columns;
    size_t column_count;
    size_t context_count; /* columns of the features; those of lists follow */
    bool needs_checks;    /* there are RAGGED or SPARSE columns */
    size_t part_stride;   /* what a column may need of parts, see batch_memory.h */
    struct arena memory;  /* all that is not named above */
};

/* Makes the plan of the features, `list_count` of them of feature lists, which stand behind the
 * others. The whole is freed with plan_free, after a failure too. */
recmap_status plan_compile(recmap_parser *plan, const recmap_feature *features,
                           size_t context_count, const recmap_feature *lists, size_t list_count,
                           recmap_error *error);
void plan_free(recmap_parser *plan);

#endif
