/* Selections: expressions over lifted columns, and files of record numbers. */
#ifndef RECMAP_PYTHON_DATASET_SELECTION_H
#define RECMAP_PYTHON_DATASET_SELECTION_H

#include "base/python.h"

/* _match(expression, out): writes to an array of bytes, one item per record of the whole data set,
 * whether the expression is true. */
PyObject *dataset_match(PyObject *object, PyObject *arguments);

/* _save_selection(path, numbers): writes the records with these numbers to a file. */
PyObject *dataset_save_selection(PyObject *object, PyObject *arguments);

/* _read_selection(path): the numbers in a file, as the bytes of an array of uint64. */
PyObject *dataset_read_selection(PyObject *object, PyObject *path);

#endif
