/* Columns that are added to an index after it was built. */
#ifndef RECMAP_PYTHON_DATASET_ANNOTATION_H
#define RECMAP_PYTHON_DATASET_ANNOTATION_H

#include "base/python.h"

/* _annotate(changes, progress or None). A change is a tuple: ("drop", name), ("rename", name, new
 * name), ("file", name, default or None, key, path), or ("rows", name, default or None, key, type,
 * keys, values). Keys are an array of int64 or a list of ids; values an array of int64 or float32,
 * or a list of str and bytes. Returns a list of exceptions: what to warn of. */
PyObject *dataset_annotate(PyObject *object, PyObject *arguments);

#endif
