/* Batches of records of a data set. */
#ifndef RECMAP_PYTHON_DATASET_BATCHES_H
#define RECMAP_PYTHON_DATASET_BATCHES_H

#include "base/python.h"

/* _gather(numbers, threads) */
PyObject *dataset_gather(PyObject *object, PyObject *arguments);

/* _parse(parser, numbers, collect, threads) */
PyObject *dataset_parse(PyObject *object, PyObject *arguments);

/* _rows(parser, order, epoch, positions) */
PyObject *dataset_rows(PyObject *object, PyObject *arguments);

#endif
