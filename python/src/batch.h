/* A batch of records as a Python sequence of memoryviews. It never changes once it is made; views
 * keep the batch, and the batch its data set. */
#ifndef RECMAP_PYTHON_BATCH_H
#define RECMAP_PYTHON_BATCH_H

#include "handle.h"

typedef struct batch_object {
    PyObject_HEAD handle_object *handle;
    recmap_batch *batch;
} batch_object;

/* A RecordBatch of `batch`, which it takes over, also when it fails. */
PyObject *batch_wrap(handle_object *handle, recmap_batch *batch);

/* The records `numbers`; all of them are in range. */
PyObject *batch_gather(handle_object *handle, const uint64_t *numbers, size_t count);

#endif
