/* Element counts as an object: what row orders are made from. */
#ifndef RECMAP_PYTHON_ORDER_COUNTS_H
#define RECMAP_PYTHON_ORDER_COUNTS_H

#include "base/python.h"

struct counts_object {
    PyObject_HEAD
    recmap_counts *counts;
};

/* Takes over `counts`, also if it fails. */
PyObject *counts_wrap(recmap_counts *counts);

/* A Counts object into a recmap_counts *, which is borrowed. TypeError for anything else. */
int take_counts(PyObject *object, void *counts);

#endif
