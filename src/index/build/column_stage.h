/* A column stage collects the values of one lifted column until they fill a chunk. The first value
 * that is not missing determines the column's type. Missing values get the default, or are null if
 * the column is nullable. */
#ifndef RECMAP_INDEX_BUILD_COLUMN_STAGE_H
#define RECMAP_INDEX_BUILD_COLUMN_STAGE_H

#include <recmap/index.h>

#include "index/tables/lifted.h"

struct column_stage;

/* NULL if memory is out. */
struct column_stage *column_stage_create(const recmap_lift *lift);
void column_stage_destroy(struct column_stage *stage);

const char *column_stage_name(const struct column_stage *stage);
const char *column_stage_default(const struct column_stage *stage); /* or NULL */

/* Lets missing values be null from now on, unless the column has a default. */
void column_stage_allow_nulls(struct column_stage *stage);

/* Makes values of type float ones of float64, because other parts of the index have those. */
void column_stage_widen(struct column_stage *stage);

/* The number of nulls in the chunks that were packed so far. */
uint64_t column_stage_null_count(const struct column_stage *stage);

/* The type of the column so far. If all values are missing, it is the type of the default. */
recmap_type column_stage_type(const struct column_stage *stage);

/* The number of the first value that was not missing, counted from the first one added; 0 if all
 * are missing. */
uint64_t column_stage_first_value(const struct column_stage *stage);

/* Returns true if a value was added that was not missing. */
bool column_stage_has_values(const struct column_stage *stage);

/* Adds a value; type NONE if it is missing. The stage must not be full. `advice` is for a missing
 * value, unless it is "" or earlier records have values. Errors, without a place:
 * FEATURE; INVALID if the default is not of the column's type; NO_MEMORY. */
recmap_status column_stage_add(struct column_stage *stage, const recmap_value *value,
                               const char *advice, recmap_error *error);

bool column_stage_is_full(const struct column_stage *stage);
size_t column_stage_count(const struct column_stage *stage);

/* Packs the chunk and empties the stage. The result is allocated with malloc; NULL if memory is
 * out. */
uint8_t *column_stage_pack(struct column_stage *stage, size_t *size);

#endif
