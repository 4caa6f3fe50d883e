/* Arguments: converters of numbers, arrays, paths and ids for the format "O&" of PyArg_Parse. */
#ifndef RECMAP_PYTHON_BASE_ARGUMENTS_H
#define RECMAP_PYTHON_BASE_ARGUMENTS_H

#include "base/python.h"

/* Converts anything with __index__ to a uint64_t. ValueError outside 0 to 2^64 - 1. */
int take_uint64(PyObject *object, void *uint64);

/* The same for an unsigned. */
int take_unsigned(PyObject *object, void *number);

/* The memory of a contiguous array, aligned for its items. Released by array_release. */
struct array_view {
    Py_buffer buffer; /* `obj` is NULL without an array */
    void *data;
    size_t count; /* items */
    void *copy;   /* of an array that is not aligned, such as a field in the middle of a file */
};

#define ARRAY_VIEW_INIT                                                                            \
    { .buffer = {.obj = NULL}, .data = NULL, .count = 0, .copy = NULL }

/* Read-only arrays, which are copied unless they are aligned, and writable ones, which must be.
 * Only the item size, of eight bytes or of `item_size`, is checked: the Python side passes arrays
 * of the right type. `flags` are for PyObject_GetBuffer. */
int take_array(PyObject *object, void *array);
int take_array_out(PyObject *object, void *array);
int take_bytes_array(PyObject *object, void *array);
int take_array_of(PyObject *object, struct array_view *array, size_t item_size, int flags);

/* As take_array_of, with items of 1, 2, 4 or 8 bytes, whose size is `buffer.itemsize`. */
int take_array_of_any(PyObject *object, struct array_view *array);

void array_release(struct array_view *array);

/* Converts a path (str, bytes or os.PathLike) to a new bytes object, like PyUnicode_FSConverter.
 * ValueError if it is empty or contains a NUL. */
int take_path(PyObject *object, void *bytes);
int take_path_or_none(PyObject *object, void *bytes); /* None leaves *bytes unchanged */

/* Converts an id (int, str or bytes) to a recmap_value, which borrows from `object`. TypeError for
 * other types. */
int take_value(PyObject *object, void *target);

#endif
