/* One column while it is assembled, and the parts that all kinds of columns share. */
#ifndef RECMAP_COLUMNS_ASSEMBLY_H
#define RECMAP_COLUMNS_ASSEMBLY_H

#include "columns/batch_memory.h"

struct assembly {
    struct batch_memory *memory;
    size_t column_index;
    const struct column_plan *plan;
    const struct sink *sink; /* of the values */
    recmap_column *column;
};

/* A part of the column with room for so many items. NULL when memory is out or the product is too
 * large. */
void *assembly_reserve(const struct assembly *a, size_t part, uint64_t count, size_t item_size);

/* The column's shape: the first dimension, and more behind it (NULL: to be filled). False when
 * memory is out. */
bool assembly_set_shape(const struct assembly *a, uint64_t first, const uint64_t *more,
                        size_t more_count);

/* The column's values are these elements, value_count of them: of BYTES these views, or copies of
 * them. False when memory is out. */
bool assembly_set_values(const struct assembly *a, const void *elements, uint64_t value_count);

/* The column's row offsets. False when memory is out. */
bool assembly_set_offsets(const struct assembly *a, const int64_t *const *offsets, size_t count);

#endif
