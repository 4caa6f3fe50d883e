#include "dataset/lifted.h"

#include <stdlib.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/signals.h"
#include "dataset/dataset.h"

/* The types of values are the first element types, which NumPy names alike, and float64. */
static const char *dtype_name(recmap_type type) {
    _Static_assert((int)RECMAP_ELEMENT_INT64 == RECMAP_TYPE_INT64, "the types of values differ");
    _Static_assert((int)RECMAP_ELEMENT_FLOAT32 == RECMAP_TYPE_FLOAT, "the types of values differ");
    _Static_assert((int)RECMAP_ELEMENT_BYTES == RECMAP_TYPE_BYTES, "the types of values differ");
    if (type == RECMAP_TYPE_FLOAT64) return recmap_element_name(RECMAP_ELEMENT_FLOAT64);
    return recmap_element_name((recmap_element)type);
}

PyObject *dataset_column_table(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    size_t count = recmap_dataset_get_info(handle->dataset)->lifted_column_count;
    PyObject *table = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; table && i < count; i++) {
        recmap_lifted_column info = {0};
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_dataset_get_lifted_column(&info, handle->dataset, i, &error);
        PyObject *row = status != RECMAP_OK
                            ? raise_error(&error)
                            : Py_BuildValue("(szzK)", info.name, dtype_name(info.type),
                                            info.default_value,
                                            (unsigned long long)info.null_count);
        if (!row) Py_CLEAR(table);
        else PyList_SetItem(table, (Py_ssize_t)i, row);
    }
    handle_release(handle);
    return table;
}

PyObject *dataset_annotated_columns(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    size_t count = recmap_dataset_get_info(handle->dataset)->lifted_column_count;
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < count; i++) {
        recmap_lifted_column info = {0};
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_dataset_get_lifted_column(&info, handle->dataset, i, &error);
        if (status == RECMAP_OK && !info.is_annotated) continue;
        PyObject *name = status == RECMAP_OK ? PyUnicode_FromString(info.name)
                                             : raise_error(&error);
        if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    handle_release(handle);
    return names;
}

static recmap_status read_values(void *values, size_t count, recmap_dataset *dataset,
                                 unsigned long column, uint64_t first, recmap_type type,
                                 recmap_error *error) {
    if (type == RECMAP_TYPE_FLOAT)
        return recmap_dataset_read_float(values, dataset, column, first, count, error);
    if (type == RECMAP_TYPE_FLOAT64)
        return recmap_dataset_read_float64(values, dataset, column, first, count, error);
    return recmap_dataset_read_int64(values, dataset, column, first, count, error);
}

/* Reads numbers of a column into an array of their type. False with an exception set. */
static int read_column(struct handle_object *handle, unsigned long column, uint64_t first,
                       PyObject *out) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_lifted_column info = {0};
    recmap_status status = recmap_dataset_get_lifted_column(&info, handle->dataset, column, &error);
    struct array_view values = ARRAY_VIEW_INIT;
    size_t size = info.type == RECMAP_TYPE_FLOAT ? sizeof(float) : sizeof(int64_t);
    if (status == RECMAP_OK && !take_array_of(out, &values, size, PyBUF_WRITABLE)) return 0;
    struct signal_check check;
    signals_start(&check);
    if (status == RECMAP_OK)
        status = read_values(values.data, values.count, handle->dataset, column, first, info.type,
                             &error);
    signals_stop(&check);
    array_release(&values);
    if (status != RECMAP_OK) raise_error(&error);
    return status == RECMAP_OK;
}

PyObject *dataset_read_numbers(PyObject *object, PyObject *arguments) {
    unsigned long column;
    unsigned long long first;
    PyObject *out;
    if (!PyArg_ParseTuple(arguments, "kKO:_read_numbers", &column, &first, &out)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    int is_read = read_column(handle, column, first, out);
    handle_release(handle);
    if (!is_read) return NULL;
    Py_RETURN_NONE;
}

PyObject *dataset_read_nulls(PyObject *object, PyObject *arguments) {
    unsigned long column;
    unsigned long long first;
    PyObject *out;
    struct array_view nulls = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "kKO:_read_nulls", &column, &first, &out)) return NULL;
    if (!take_array_of(out, &nulls, 1, PyBUF_WRITABLE)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    if (handle) {
        struct signal_check check;
        signals_start(&check);
        status = recmap_dataset_read_nulls(nulls.data, handle->dataset, column, first, nulls.count,
                                           &error);
        signals_stop(&check);
        handle_release(handle);
    }
    array_release(&nulls);
    if (!handle) return NULL;
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

/* Handlers of signals run after each PIECE values, and may raise. */
static PyObject *list_of_bytes(const recmap_value *values, size_t count) {
    enum { PIECE = 1 << 16 };
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        int has_text = values[i].type == RECMAP_TYPE_BYTES; /* else it is null */
        PyObject *value =
            PyBytes_FromStringAndSize(has_text ? (const char *)values[i].as.bytes.data : NULL,
                                      has_text ? (Py_ssize_t)values[i].as.bytes.size : 0);
        if (!value || (i % PIECE == 0 && PyErr_CheckSignals() < 0)) {
            Py_XDECREF(value);
            Py_CLEAR(list);
        } else PyList_SetItem(list, (Py_ssize_t)i, value);
    }
    return list;
}

PyObject *dataset_read_bytes(PyObject *object, PyObject *arguments) {
    unsigned long column;
    unsigned long long first;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(arguments, "kKn:_read_bytes", &column, &first, &count)) return NULL;
    recmap_value *values = calloc((size_t)count + 1, sizeof *values);
    if (!values) return PyErr_NoMemory();
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) {
        free(values);
        return NULL;
    }
    recmap_error error = RECMAP_ERROR_INIT;
    struct signal_check check;
    signals_start(&check);
    recmap_status status =
        recmap_dataset_read_bytes(values, handle->dataset, column, first, (size_t)count, &error);
    signals_stop(&check);
    PyObject *list = status == RECMAP_OK ? list_of_bytes(values, (size_t)count)
                                         : raise_error(&error);
    handle_release(handle);
    free(values);
    return list;
}
