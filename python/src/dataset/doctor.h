/* The examination of a data set. */
#ifndef RECMAP_PYTHON_DATASET_DOCTOR_H
#define RECMAP_PYTHON_DATASET_DOCTOR_H

#include "base/python.h"

/* _examine(numbers, sample or 0, index_only, threads, progress or None) -> JSON of the diagnosis */
PyObject *dataset_examine(PyObject *object, PyObject *arguments);

#endif
