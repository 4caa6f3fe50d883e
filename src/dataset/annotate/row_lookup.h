/* The records of many rows at once: ids are looked up by ascending hash. */
#ifndef RECMAP_DATASET_ANNOTATE_ROW_LOOKUP_H
#define RECMAP_DATASET_ANNOTATE_ROW_LOOKUP_H

#include <recmap/record.h>

#include "base/core/radix.h"
#include "index/tables/index.h"

enum {
    /* Rows that are looked up together. More would need more memory, 40 bytes each, and hardly save
     * time. */
    ROW_GROUP = 1 << 19,
};

/* Instead of a record number: no record has the id's hash, or several have it. */
#define ROW_ABSENT (UINT64_MAX - 1)
#define ROW_SEVERAL UINT64_MAX

struct row_lookup {
    struct index_file *index;
    struct radix_item *items, *scratch; /* (hash, row) */
    uint64_t *numbers;                  /* of the record of each row, or one of the above */
    size_t capacity;
};

void row_lookup_init(struct row_lookup *lookup, struct index_file *index);
void row_lookup_deinit(struct row_lookup *lookup);

/* Sets lookup->numbers for `count` ids, at most ROW_GROUP. Those that are neither INT64 nor BYTES
 * are absent. Errors: CORRUPT (the index), NO_MEMORY. */
recmap_status row_lookup_find(struct row_lookup *lookup, const recmap_value *ids, size_t count,
                              recmap_error *error);

#endif
