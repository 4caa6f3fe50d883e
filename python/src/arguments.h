/* Arguments: numbers and arrays of them, as converters for the "O&" of PyArg_Parse. */
#ifndef RECMAP_PYTHON_ARGUMENTS_H
#define RECMAP_PYTHON_ARGUMENTS_H

#include "python.h"

/* An int of 0 to 2^64 - 1 (anything with __index__) into a uint64_t. ValueError below 0 and above.
 */
int take_uint64(PyObject *object, void *uint64);

/* The same into an unsigned, up to its largest value. */
int take_unsigned(PyObject *object, void *number);

/* The memory of an array: contiguous, of items of eight bytes. Cleared with array_release. */
typedef struct array_view {
    Py_buffer buffer; /* `obj` is NULL when there is none */
    void *data;
    size_t count; /* items */
} array_view;

#define ARRAY_VIEW_INIT                                                                            \
    { .buffer = {.obj = NULL}, .data = NULL, .count = 0 }

/* Read-only and writable; items of one byte for masks. What the items mean is the caller's matter:
 * the Python side gives arrays of the right kind. */
int take_array(PyObject *object, void *array);
int take_array_out(PyObject *object, void *array);
int take_bytes_array(PyObject *object, void *array);
int take_array_of(PyObject *object, array_view *array, size_t item_size, int flags);

void array_release(array_view *array);

/* A path (str, bytes or os.PathLike) into a new bytes object; as PyUnicode_FSConverter, but "" and
 * NULs are ValueErrors. */
int take_path(PyObject *object, void *bytes);
int take_path_or_none(PyObject *object, void *bytes); /* None leaves it as it is */

/* An id: int, str or bytes into a recmap_value, which borrows from `object`. TypeError else. */
int take_value(PyObject *object, void *value);

#endif
