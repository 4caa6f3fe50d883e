/* The schema of records of a data set. */
#ifndef RECMAP_PYTHON_DATASET_SCHEMA_H
#define RECMAP_PYTHON_DATASET_SCHEMA_H

#include "base/python.h"

/* _schema(numbers) -> (JSON, number of records that are neither Example nor SequenceExample) */
PyObject *dataset_schema(PyObject *object, PyObject *arguments);

#endif
