/* Features as tuples, which the Python side makes. */
#ifndef RECMAP_PYTHON_BATCH_FEATURE_ROWS_H
#define RECMAP_PYTHON_BATCH_FEATURE_ROWS_H

#include "base/python.h"

/* Memory that features point to. Zero-initialized, it is empty. */
struct feature_memory {
    void **pieces;
    size_t count;
};

void feature_memory_deinit(struct feature_memory *memory);

/* Reads a tuple of rows. Strings belong to the rows, which the caller keeps alive. Returns NULL
 * with an exception set if a row is wrong. */
recmap_feature *feature_rows_read(size_t *count, PyObject *rows, struct feature_memory *memory);

#endif
