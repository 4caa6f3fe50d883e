/* Positions of many ids. */
#ifndef RECMAP_PYTHON_DATASET_FIND_H
#define RECMAP_PYTHON_DATASET_FIND_H

#include "base/python.h"

/* _find_many(ids, out, positions): writes the position of each id of a list, or of an array of
 * int64, to an array of int64; -1 if it is absent. For a view by numbers, `positions` is an array
 * of int64 with the position of each record of the whole data set in the view, or -1; else None. */
PyObject *dataset_find_many(PyObject *object, PyObject *arguments);

/* _find_records(source, numbers, out, positions): the same for the ids of records of `source`,
 * given by their numbers in its whole data set. */
PyObject *dataset_find_records(PyObject *object, PyObject *arguments);

#endif
