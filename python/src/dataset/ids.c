#include "dataset/ids.h"

#include <stdlib.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/signals.h"
#include "dataset/dataset.h"

PyObject *dataset_find(PyObject *object, PyObject *arguments) {
    recmap_value id = {0};
    if (!PyArg_ParseTuple(arguments, "O&:_find", take_value, &id)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t number = 0;
    struct signal_check check;
    signals_start(&check);
    recmap_status status = recmap_dataset_find(&number, handle->dataset, &id, &error);
    signals_stop(&check);
    handle_release(handle);
    return status == RECMAP_OK ? PyLong_FromUnsignedLongLong(number) : raise_error(&error);
}

static PyObject *list_of(const uint64_t *numbers, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(numbers[i]);
        if (!number) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, number);
    }
    return list;
}

PyObject *dataset_find_all(PyObject *object, PyObject *arguments) {
    recmap_value id = {0};
    if (!PyArg_ParseTuple(arguments, "O&:_find_all", take_value, &id)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t buffer[16], *numbers = buffer;
    size_t count = 0, capacity = sizeof buffer / sizeof *buffer;
    struct signal_check check;
    signals_start(&check);
    recmap_status status =
        recmap_dataset_find_all(buffer, capacity, &count, handle->dataset, &id, &error);
    if (status == RECMAP_OK && count > capacity) {
        capacity = count;
        numbers = malloc(capacity * sizeof *numbers);
        if (numbers)
            status =
                recmap_dataset_find_all(numbers, capacity, &count, handle->dataset, &id, &error);
    }
    signals_stop(&check);
    handle_release(handle);
    PyObject *list;
    if (!numbers) list = PyErr_NoMemory();
    else list = status == RECMAP_OK ? list_of(numbers, count) : raise_error(&error);
    if (numbers != buffer) free(numbers);
    return list;
}

PyObject *dataset_read_id_hashes(PyObject *object, PyObject *arguments) {
    struct array_view hashes = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "O&:_read_id_hashes", take_array_out, &hashes)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) {
        array_release(&hashes);
        return NULL;
    }
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    int fits = hashes.count == recmap_dataset_count(handle->dataset);
    struct signal_check check;
    signals_start(&check);
    if (fits) status = recmap_dataset_read_id_hashes(hashes.data, handle->dataset, &error);
    signals_stop(&check);
    handle_release(handle);
    array_release(&hashes);
    if (!fits) return PyErr_Format(PyExc_ValueError, "the array must have one item per record");
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}
