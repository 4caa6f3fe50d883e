/* The ids of many records, copied from them. */
#ifndef RECMAP_DATASET_LOOKUP_RECORD_IDS_H
#define RECMAP_DATASET_LOOKUP_RECORD_IDS_H

#include "dataset/lookup/find.h"

struct record_ids {
    recmap_value *ids; /* type NONE for a record without id */
    size_t count, capacity;
    struct id_text *texts; /* of each part that one thread reads: its ids of type BYTES */
    size_t text_count, text_capacity;
};

#define RECORD_IDS_INIT                                                                            \
    { NULL, 0, 0, NULL, 0, 0 }

/* Replaces the ids by the ids of other records, which may repeat and be in any order. The data set
 * may be a concatenation. Call record_ids_deinit also after an error. Errors: those of
 * recmap_dataset_gather and dataset_read_id. */
recmap_status record_ids_read(struct record_ids *ids, recmap_dataset *dataset,
                              const uint64_t *numbers, size_t count, recmap_error *error);
void record_ids_deinit(struct record_ids *ids);

#endif
