/* Putting columns together out of the sinks, when all rows of a batch have been read. */
#ifndef RECMAP_COLUMNS_ASSEMBLE_H
#define RECMAP_COLUMNS_ASSEMBLE_H

#include "columns/batch_memory.h"

/* Fills memory->columns. False when memory is out. */
bool assemble_columns(batch_memory *memory);

/* A column on its way. */
typedef struct assembly {
    batch_memory *memory;
    size_t column_index;
    const column_plan *plan;
    const sink *sink; /* of the values */
    recmap_column *column;
} assembly;

/* A part of the column with room for so many items. NULL when memory is out or the product is too
 * large. */
void *assembly_reserve(const assembly *a, size_t part, uint64_t count, size_t item_size);

/* The column's shape: the first dimension, and more behind it (NULL: to be filled). False when
 * memory is out. */
bool assembly_set_shape(const assembly *a, uint64_t first, const uint64_t *more, size_t more_count);

/* The column's values are these elements, value_count of them: of BYTES these views, or copies of
 * them. False when memory is out. */
bool assembly_set_values(const assembly *a, const void *elements, uint64_t value_count);

/* The column's row offsets. False when memory is out. */
bool assembly_set_offsets(const assembly *a, const int64_t *const *offsets, size_t count);

/* The kinds that are not what their sinks are. */
bool assemble_sequence(const assembly *a);
bool assemble_ragged(const assembly *a);
bool assemble_sparse(const assembly *a);

#endif
