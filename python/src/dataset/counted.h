/* The features whose elements the index counts. */
#ifndef RECMAP_PYTHON_DATASET_COUNTED_H
#define RECMAP_PYTHON_DATASET_COUNTED_H

#include "base/python.h"

/* [(name, dtype or None)] of all counted features. */
PyObject *dataset_counted_table(PyObject *object, PyObject *unused);

/* _read_counts(name) -> Counts */
PyObject *dataset_read_counts(PyObject *object, PyObject *name);

#endif
