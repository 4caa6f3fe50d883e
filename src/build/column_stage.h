/* The values of one column that wait to fill a chunk. Knows the column's type, once a record has
 * shown it, and puts the default where a value is missing. */
#ifndef RECMAP_BUILD_COLUMN_STAGE_H
#define RECMAP_BUILD_COLUMN_STAGE_H

#include <recmap/index.h>

#include "index/lifted.h"

struct column_stage;

/* NULL when memory is out. */
struct column_stage *column_stage_create(const recmap_lift *lift);
void column_stage_destroy(struct column_stage *stage);

const char *column_stage_name(const struct column_stage *stage);
const char *column_stage_default(const struct column_stage *stage); /* or NULL */

/* What the column turned out to be; with no typed value at all, what its default looks like. */
recmap_type column_stage_type(const struct column_stage *stage);

/* The number of the first value that was not missing, counted from the first that was added; 0
 * where all are missing. */
uint64_t column_stage_first_value(const struct column_stage *stage);

/* Adds a value, NONE for a missing one. Errors (with no place): FEATURE, INVALID when the default
 * does not fit the type, NO_MEMORY. */
recmap_status column_stage_add(struct column_stage *stage, const recmap_value *value,
                               recmap_error *error);

bool column_stage_is_full(const struct column_stage *stage);
size_t column_stage_count(const struct column_stage *stage);

/* The chunk, packed and malloc'ed; empties the stage. NULL when memory is out. */
uint8_t *column_stage_pack(struct column_stage *stage, size_t *size);

#endif
