/* Arguments that are a list of values, or an array of numbers. */
#ifndef RECMAP_PYTHON_ITEMS_H
#define RECMAP_PYTHON_ITEMS_H

#include "base/arguments.h"

/* The items of a list or of an array of 4 or 8 bytes per item. The list must not change. */
struct items {
    PyObject *list; /* borrowed; NULL for an array */
    struct array_view array;
    recmap_type type; /* of an array's items */
    size_t count;
};

/* Takes a list, or an array of `type`, which is INT64, FLOAT or FLOAT64. TypeError for anything
 * else. */
int take_items(struct items *items, PyObject *object, recmap_type type);
void items_release(struct items *items);

/* Item `i` as a value, which borrows from the list's item. TypeError for an item of a list that is
 * not a str, bytes or int. */
int item_at(recmap_value *value, const struct items *items, size_t i);

#endif
