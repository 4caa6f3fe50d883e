/* A data set, or a view of one: which records of a handle, in which order. The Python class Dataset
 * derives from it. */
#ifndef RECMAP_PYTHON_DATASET_H
#define RECMAP_PYTHON_DATASET_H

#include "arguments.h"
#include "handle.h"

/* Item i is record numbers[i] where there are numbers, else first + i * step. */
typedef struct dataset_object {
    PyObject_HEAD
    handle_object *handle; /* NULL once closed */
    uint64_t count;
    uint64_t first;
    int64_t step;
    array_view numbers;
} dataset_object;

/* The handle, or NULL with ValueError when the data set is closed. Borrowed: who lets the GIL go
 * retains it before, and arguments whose own code may run (`__index__`, `__bool__`) are taken
 * before it. */
handle_object *dataset_handle(dataset_object *dataset);

#endif
