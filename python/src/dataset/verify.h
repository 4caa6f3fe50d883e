/* The comparison of a data set with its index. */
#ifndef RECMAP_PYTHON_DATASET_VERIFY_H
#define RECMAP_PYTHON_DATASET_VERIFY_H

#include "base/python.h"

/* _verify(index_only, threads, progress or None, memory limit or 0) -> JSON of the report */
PyObject *dataset_verify(PyObject *object, PyObject *arguments);

#endif
