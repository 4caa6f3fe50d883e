/* Finds records by an id that the user wrote. */
#ifndef RECMAP_TOOLS_RECORDS_FIND_ID_H
#define RECMAP_TOOLS_RECORDS_FIND_ID_H

#include <stdbool.h>

#include "records/view.h"

/* The positions of one id's records in a view, ascending: in an index, their numbers. The memory is
 * reused for the next id. */
struct match_list {
    uint64_t *numbers;
    size_t count;
    size_t capacity;
};

#define MATCH_LIST_INIT                                                                            \
    { NULL, 0, 0 }

void match_list_deinit(struct match_list *matches);

/* Finds all records of the view with the id. A text does not say whether an id is bytes or an
 * integer: bytes are tried first. Errors: those of recmap_dataset_find_all; an id without records
 * is not one. */
recmap_status find_id(struct match_list *matches, struct view *view, const char *text,
                      recmap_error *error);

/* Fills in the error for an id that no record of the view has. Returns NOT_FOUND. */
recmap_status find_id_fail(struct match_list *matches, const struct view *view, const char *text,
                           recmap_error *error);

#endif
