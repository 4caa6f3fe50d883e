/* A data set or a view of one: records of a handle, in some order. The base class of the Python
 * class Dataset. */
#ifndef RECMAP_PYTHON_DATASET_DATASET_H
#define RECMAP_PYTHON_DATASET_DATASET_H

#include "base/arguments.h"
#include "index/handle.h"

/* Item i is record numbers[i], or first + i * step without numbers. */
struct dataset_object {
    PyObject_HEAD
    struct handle_object *handle; /* NULL once closed */
    uint64_t count;
    uint64_t first;
    int64_t step;
    struct array_view numbers;
};

/* A new reference to the handle, which keeps it open while another thread closes the data set. NULL
 * with ValueError if the data set is closed. */
struct handle_object *dataset_handle(struct dataset_object *dataset);

#endif
