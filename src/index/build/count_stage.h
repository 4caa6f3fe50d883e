/* A count stage collects the element counts of one feature until they fill a chunk. */
#ifndef RECMAP_INDEX_BUILD_COUNT_STAGE_H
#define RECMAP_INDEX_BUILD_COUNT_STAGE_H

#include <recmap/index.h>

#include "index/tables/count_chunk.h"

struct count_stage;

/* NULL if memory is out. */
struct count_stage *count_stage_create(const recmap_counted_feature *feature);
void count_stage_destroy(struct count_stage *stage);

const char *count_stage_name(const struct count_stage *stage);
recmap_element count_stage_element(const struct count_stage *stage);

/* Returns true if a record had elements. */
bool count_stage_has_elements(const struct count_stage *stage);

/* Adds a count. The stage must not be full. */
void count_stage_add(struct count_stage *stage, uint64_t count);

bool count_stage_is_full(const struct count_stage *stage);
size_t count_stage_count(const struct count_stage *stage);

/* Packs the chunk and empties the stage. The result is allocated with malloc; NULL if memory is
 * out. */
uint8_t *count_stage_pack(struct count_stage *stage, size_t *size);

#endif
