/* The ids of records. */
#ifndef RECMAP_PYTHON_DATASET_IDS_H
#define RECMAP_PYTHON_DATASET_IDS_H

#include "base/python.h"

/* _find(id) -> the number of the only record with this id */
PyObject *dataset_find(PyObject *object, PyObject *arguments);

/* _find_all(id) -> [number] of all records with this id */
PyObject *dataset_find_all(PyObject *object, PyObject *arguments);

/* _read_id_hashes(out): out is an array of uint64 with one item per record. */
PyObject *dataset_read_id_hashes(PyObject *object, PyObject *arguments);

#endif
