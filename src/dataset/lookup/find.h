/* Finding records by id: what looking up one id and looking up many share. */
#ifndef RECMAP_DATASET_LOOKUP_FIND_H
#define RECMAP_DATASET_LOOKUP_FIND_H

#include "dataset/open/concat.h"

/* INVALID unless the data set, which is not a concatenation, can find an id of this type. */
recmap_status dataset_check_can_find(const recmap_dataset *dataset, const recmap_value *id,
                                     recmap_error *error);

bool is_same_id(const recmap_value *a, const recmap_value *b);

/* The id of a record, whose bytes are in the record or in `room`; type NONE if it has none. Errors:
 * those of extractor_read_id, naming the place. */
recmap_status dataset_read_id(recmap_value *id, struct id_room *room, const recmap_dataset *dataset,
                              const recmap_record *record, uint64_t number, recmap_error *error);

/* Sets whether a record has the id, by whose hash the index found the record. Errors: those of
 * recmap_dataset_get and dataset_read_id; STALE if its id has another hash. */
recmap_status dataset_has_id(bool *matches, recmap_dataset *dataset, uint64_t number,
                             const recmap_value *id, recmap_error *error);

#endif
