/* The records that a command works on: those of an index, or of a selection (NAME.rmv). */
#ifndef RECMAP_TOOLS_RECORDS_VIEW_H
#define RECMAP_TOOLS_RECORDS_VIEW_H

#include <recmap/selection.h>

#include <recmap/message.h>

#include "records/iterate.h"
#include "terminal/args.h"

/* Item i of a view is record numbers[i], or record i if `numbers` is NULL. */
struct view {
    recmap_dataset *dataset;
    const char *path;       /* the operand: the file that was opened */
    const char *index_path; /* lives as long as the view */
    char *found_path;       /* the index of shards that were named; else NULL */
    const uint64_t *numbers;
    uint64_t count;
    recmap_selection *selection; /* of the file; NULL: an index was opened */
    uint64_t *chosen;            /* numbers that the command chose, or NULL */
    uint64_t *sorted; /* positions, sorted by their numbers; NULL before the first lookup */
    uint64_t found;   /* the result of view_find in a whole index */
    recmap_message_type *message_type; /* of the records, if there is a descriptor set; else NULL */
    recmap_message_lift *lift;         /* what reads their ids; or NULL */
};

/* Opens what the first operand names: an index, a selection, or shards, of which the index is
 * opened or built (shard_operand.h). With the SIGBUS guard installed. Returns 0, or the exit status
 * after printing the error; the view can then also be closed. */
int view_open(struct view *view, const struct args *args);
void view_close(struct view *view);

/* The number of an item. `position` is below view->count. */
static inline uint64_t view_number(const struct view *view, uint64_t position) {
    return view->numbers ? view->numbers[position] : position;
}

/* Replaces the items by `count` others, given by their numbers, which the view frees. */
void view_choose(struct view *view, uint64_t *numbers, uint64_t count);

/* Keeps the items for which the expression is true. Errors: those of recmap_filter_create;
 * CANCELLED. */
recmap_status view_filter(struct view *view, const char *expression, recmap_error *error);

/* The positions of a record, ascending: an array of *count that lives as long as the view, until
 * the next call. Errors: NO_MEMORY. */
recmap_status view_find(const uint64_t **positions, size_t *count, struct view *view,
                        uint64_t number, recmap_error *error);

/* Checks that `position` is an item. Errors: INVALID. */
recmap_status view_check(const struct view *view, uint64_t position, recmap_error *error);

/* A source of positions in a view, as a source of record numbers. It borrows `positions` and
 * `view`. */
struct view_source {
    const struct view *view;
    struct number_source positions;
};

struct number_source view_source_numbers(struct view_source *source);

/* A source of all positions in their order. It borrows `next`, which keeps the place. */
struct number_source view_all_positions(const struct view *view, uint64_t *next);

#endif
