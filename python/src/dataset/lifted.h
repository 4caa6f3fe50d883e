/* The lifted columns of an index. */
#ifndef RECMAP_PYTHON_DATASET_LIFTED_H
#define RECMAP_PYTHON_DATASET_LIFTED_H

#include "base/python.h"

/* [(name, type, default or None, number of nulls)] of all columns. The type is None if the data set
 * is empty or all values are null. */
PyObject *dataset_column_table(PyObject *object, PyObject *unused);

/* Names of the columns whose values did not come from the records, as far as the index knows. */
PyObject *dataset_annotated_columns(PyObject *object, PyObject *unused);

/* _read_numbers(column, first, out): out is int64, float64 (8 bytes) or float32 (4 bytes), like the
 * column. */
PyObject *dataset_read_numbers(PyObject *object, PyObject *arguments);

/* _read_nulls(column, first, out): out is bool, and True for each null. */
PyObject *dataset_read_nulls(PyObject *object, PyObject *arguments);

/* _read_bytes(column, first, count) -> [bytes], with b"" for a null */
PyObject *dataset_read_bytes(PyObject *object, PyObject *arguments);

#endif
