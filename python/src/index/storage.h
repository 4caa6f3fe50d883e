/* Storages, which Python holds as capsules. */
#ifndef RECMAP_PYTHON_INDEX_STORAGE_H
#define RECMAP_PYTHON_INDEX_STORAGE_H

#include "base/python.h"

/* Converts a capsule of storage_create to the recmap_storage that it owns. None leaves *storage
 * unchanged. */
int take_storage(PyObject *object, void *storage);

#endif
