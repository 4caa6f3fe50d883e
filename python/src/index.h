/* What an index is built with, out of Python values. */
#ifndef RECMAP_PYTHON_INDEX_H
#define RECMAP_PYTHON_INDEX_H

#include "python.h"

/* Columns to be lifted; texts belong to the Python values that they were read from. */
typedef struct lift_list {
    recmap_lift *lifts;
    size_t count;
} lift_list;

/* From a list of (name, default or None); a converter for "O&". Cleared with lift_list_free. */
int take_lifts(PyObject *list, void *lifts);
void lift_list_free(lift_list *list);

#endif
