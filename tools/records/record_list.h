/* The records that a user named: numbers, ranges of numbers, or ids; as operands, or in a file. */
#ifndef RECMAP_TOOLS_RECORDS_RECORD_LIST_H
#define RECMAP_TOOLS_RECORDS_RECORD_LIST_H

#include <stdbool.h>

#include "records/view.h"

/* NUMBER, or FIRST:END without END: positions in a view. */
struct number_range {
    uint64_t first;
    uint64_t count;
    bool is_slice; /* FIRST:END, of which only what there is counts, as in Python */
};

struct record_list {
    struct number_range *ranges; /* in the order in which they were named */
    size_t count;
    size_t capacity;
};

/* A place in a list, for record_list_source. */
struct record_list_cursor {
    const struct record_list *list;
    size_t range;
    uint64_t used; /* of that range */
};

#define RECORD_LIST_INIT                                                                           \
    { NULL, 0, 0 }

void record_list_deinit(struct record_list *list);

/* A source of the positions in the list. It borrows the list and the cursor. */
struct number_source record_list_source(const struct record_list *list,
                                        struct record_list_cursor *cursor);

/* Adds the operands after the first, which are numbers and ranges. Cuts ranges at their colon.
 * Returns 0, or the exit status after printing the error. */
int record_list_add_operands(struct record_list *list, const struct args *args);

/* Cuts slices that end after the last item of the view, and prints a note about it. */
void record_list_clamp(struct record_list *list, const struct view *view);

/* Adds the records with an id: all of them if it is repeated. Errors: those of find_id, NOT_FOUND
 * if no record has it. */
recmap_status record_list_add_id(struct record_list *list, struct view *view, const char *id,
                                 recmap_error *error);

/* Adds what the lines of a file name, - for standard input: ids if `has_ids`, else numbers and
 * ranges. Empty lines are skipped. Errors: INVALID naming the file and line; IO; NO_MEMORY; those
 * of record_list_add_id. */
recmap_status record_list_add_file(struct record_list *list, struct view *view,
                                   const char *file_path, bool has_ids, recmap_error *error);

#endif
