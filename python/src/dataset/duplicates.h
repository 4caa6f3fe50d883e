/* Exact duplicates among records. */
#ifndef RECMAP_PYTHON_DATASET_DUPLICATES_H
#define RECMAP_PYTHON_DATASET_DUPLICATES_H

#include "base/python.h"

/* _find_duplicates(firsts, numbers, feature or None, by_id, progress or None): writes for each
 * record of `numbers` the position of the first one that is equal. */
PyObject *dataset_find_duplicates(PyObject *object, PyObject *arguments);

#endif
