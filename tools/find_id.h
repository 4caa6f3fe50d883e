/* Finds records by an id that the user wrote. */
#ifndef RECMAP_FIND_ID_H
#define RECMAP_FIND_ID_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* The numbers of one id's records, ascending. The memory is reused for the next id. */
struct match_list {
    uint64_t *numbers;
    size_t count;
    size_t capacity;
};

#define MATCH_LIST_INIT                                                                            \
    { NULL, 0, 0 }

void match_list_deinit(struct match_list *matches);

/* Finds all records with the id. A text does not say whether an id is bytes or an integer: bytes
 * are tried first. Errors: those of recmap_dataset_find_all; an id without records is not one. */
recmap_status find_id(struct match_list *matches, recmap_dataset *dataset, const char *text,
                      recmap_error *error);

/* Fills in the error for an id that no record has. Returns NOT_FOUND. `path` is the index. */
recmap_status find_id_fail(recmap_dataset *dataset, const char *path, const char *text,
                           recmap_error *error);

#endif
