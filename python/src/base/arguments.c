#include "base/arguments.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int take_uint64(PyObject *object, void *uint64) {
    PyObject *index = PyNumber_Index(object);
    if (!index) return 0;
    uint64_t value = PyLong_AsUnsignedLongLong(index);
    int failed = value == UINT64_MAX && PyErr_Occurred();
    if (failed && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%S is not in 0 to 2**64 - 1", index);
    }
    Py_DECREF(index);
    if (!failed) *(uint64_t *)uint64 = value;
    return !failed;
}

int take_unsigned(PyObject *object, void *number) {
    uint64_t value;
    if (!take_uint64(object, &value)) return 0;
    if (value > UINT_MAX) {
        PyErr_Format(PyExc_ValueError, "%" PRIu64 " is too many", value);
        return 0;
    }
    *(unsigned *)number = (unsigned)value;
    return 1;
}

/* Makes the items aligned. Programs may read or write numbers only at multiples of their size. */
static int align(struct array_view *array, size_t item_size, int is_writable) {
    size_t size = (size_t)array->buffer.len;
    array->data = array->buffer.buf;
    array->count = size / item_size;
    array->copy = NULL;
    if ((uintptr_t)array->data % item_size == 0) return 1;
    if (is_writable) {
        PyErr_SetString(PyExc_BufferError, "the array is not aligned: pass a copy of it");
        return 0;
    }
    array->copy = malloc(size + 1);
    if (!array->copy) {
        PyErr_NoMemory();
        return 0;
    }
    memcpy(array->copy, array->data, size);
    array->data = array->copy;
    return 1;
}

static int take_buffer(PyObject *object, struct array_view *array, int flags) {
    array->copy = NULL;
    if (PyObject_GetBuffer(object, &array->buffer, flags | PyBUF_C_CONTIGUOUS) == 0) return 1;
    array->buffer.obj = NULL;
    return 0;
}

int take_array_of(PyObject *object, struct array_view *array, size_t item_size, int flags) {
    if (!take_buffer(object, array, flags)) return 0;
    if ((size_t)array->buffer.itemsize != item_size)
        PyErr_Format(PyExc_TypeError, "the array has items of %zd bytes, but %zu are needed",
                     array->buffer.itemsize, item_size);
    else if (align(array, item_size, flags & PyBUF_WRITABLE)) return 1;
    array_release(array);
    return 0;
}

int take_array_of_any(PyObject *object, struct array_view *array) {
    if (!take_buffer(object, array, PyBUF_SIMPLE)) return 0;
    size_t size = (size_t)array->buffer.itemsize;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        PyErr_Format(PyExc_TypeError, "the array has items of %zu bytes, not of 1, 2, 4 or 8",
                     size);
    else if (align(array, size, 0)) return 1;
    array_release(array);
    return 0;
}

/* Converters with cleanup: called again with NULL if a later argument fails. */
static int convert(PyObject *object, void *array, size_t item_size, int flags) {
    if (!object) {
        array_release(array);
        return 1;
    }
    return take_array_of(object, array, item_size, flags) ? Py_CLEANUP_SUPPORTED : 0;
}

int take_array(PyObject *object, void *array) {
    return convert(object, array, 8, PyBUF_SIMPLE);
}

int take_array_out(PyObject *object, void *array) {
    return convert(object, array, 8, PyBUF_WRITABLE);
}

int take_bytes_array(PyObject *object, void *array) {
    return convert(object, array, 1, PyBUF_SIMPLE);
}

void array_release(struct array_view *array) {
    if (array->buffer.obj) PyBuffer_Release(&array->buffer);
    array->buffer.obj = NULL;
    free(array->copy);
    array->copy = NULL;
}

int take_path(PyObject *object, void *bytes) {
    int taken = PyUnicode_FSConverter(object, bytes);
    if (!taken || !object) return taken;
    PyObject **path = bytes;
    if (PyBytes_Size(*path) > 0) return taken;
    Py_CLEAR(*path);
    PyErr_SetString(PyExc_ValueError, "the path is empty");
    return 0;
}

int take_path_or_none(PyObject *object, void *bytes) {
    return object == Py_None ? 1 : take_path(object, bytes);
}

/* Sets the error for an id beyond int64. Unsigned numbers of 64 bits are often stored as the int64
 * with the same bits. */
static void fail_id(PyObject *index) {
    uint64_t bits = PyLong_AsUnsignedLongLong(index);
    if (bits == UINT64_MAX && PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError,
                     "the id %S is beyond int64 (-2^63 to 2^63 - 1), so no record has it", index);
        return;
    }
    PyErr_Format(PyExc_ValueError,
                 "the id %S is above 2^63 - 1: ids are signed, look for %" PRId64
                 ", which has the same 64 bits",
                 index, (int64_t)bits);
}

static int take_int64(PyObject *object, recmap_value *value) {
    PyObject *index = PyNumber_Index(object);
    if (!index) {
        PyErr_Format(PyExc_TypeError, "an id must be an int, str or bytes, not %R",
                     (PyObject *)Py_TYPE(object));
        return 0;
    }
    value->type = RECMAP_TYPE_INT64;
    value->as.int64 = PyLong_AsLongLong(index);
    int failed = value->as.int64 == -1 && PyErr_Occurred();
    if (failed && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        fail_id(index);
    }
    Py_DECREF(index);
    return !failed;
}

int take_value(PyObject *object, void *target) {
    recmap_value *value = target;
    char *data;
    Py_ssize_t size;
    if (PyUnicode_Check(object)) {
        data = (char *)PyUnicode_AsUTF8AndSize(object, &size);
        if (!data) return 0;
    } else if (PyBytes_Check(object)) {
        if (PyBytes_AsStringAndSize(object, &data, &size) < 0) return 0;
    } else {
        return take_int64(object, value);
    }
    value->type = RECMAP_TYPE_BYTES;
    value->as.bytes.data = (const uint8_t *)data;
    value->as.bytes.size = (size_t)size;
    return 1;
}
