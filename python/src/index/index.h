/* Options for building an index, converted from Python values. */
#ifndef RECMAP_PYTHON_INDEX_INDEX_H
#define RECMAP_PYTHON_INDEX_INDEX_H

#include "base/python.h"

/* Columns to lift. The strings belong to the Python values that they were read from. */
struct lift_list {
    recmap_lift *lifts;
    size_t count;
};

/* Features whose elements are counted. The strings belong to the Python values. */
struct counted_list {
    recmap_counted_feature *features;
    size_t count;
};

/* Converts a sequence of (name, dtype or None), for the format "O&". Freed by counted_list_deinit.
 * ValueError for an unknown dtype. */
int take_counted(PyObject *list, void *features);
void counted_list_deinit(struct counted_list *list);

/* Converts a sequence of (name, default or None), for the format "O&". Freed by lift_list_deinit.
 */
int take_lifts(PyObject *list, void *lifts);
void lift_list_deinit(struct lift_list *list);

/* Converts a tuple of the numbers of types, one for each of the columns, for the format "O&". Freed
 * with `free`. */
int take_types(PyObject *tuple, void *types);

#endif
