/* One column while it is assembled, and the parts that all kinds of columns share. */
#ifndef RECMAP_PARSE_COLUMNS_ASSEMBLY_H
#define RECMAP_PARSE_COLUMNS_ASSEMBLY_H

#include "base/core/interrupt.h"
#include "parse/columns/batch_memory.h"

struct assembly {
    struct batch_memory *memory;
    size_t column_index;
    const struct column_plan *plan;
    const struct sink *sink; /* of the column's values */
    recmap_column *column;
    struct interrupt *interrupt; /* of the call, or NULL */
};

/* Counts work that was done, in bytes. Returns false if the call was interrupted. */
static inline bool assembly_continues(const struct assembly *a, uint64_t work) {
    return interrupt_continues(a->interrupt, work);
}

/* Returns memory for `count` items in one of the column's parts, or NULL if memory runs out or the
 * size overflows. */
void *assembly_reserve(const struct assembly *a, size_t part, uint64_t count, size_t item_size);

/* Sets the column's shape: the first dimension, then `more_count` others. If `more` is NULL, the
 * caller fills them in. Returns false if memory runs out. */
bool assembly_set_shape(const struct assembly *a, uint64_t first, const uint64_t *more,
                        size_t more_count);

/* Sets the column's values to these elements. For BYTES, `elements` are views, which are kept or
 * copied depending on bytes_mode. Returns false if memory runs out or the call is interrupted. */
bool assembly_set_values(const struct assembly *a, const void *elements, uint64_t value_count);

/* Sets the column's row offsets. Returns false if memory runs out. */
bool assembly_set_offsets(const struct assembly *a, const int64_t *const *offsets, size_t count);

#endif
