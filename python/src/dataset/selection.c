#include "dataset/selection.h"

#include <recmap/filter.h>
#include <recmap/selection.h>

#include "base/errors.h"
#include "base/module.h"
#include "dataset/dataset.h"

/* Signals are handled between groups of records. */
enum { GROUP_SIZE = 1 << 18 };

static int match_groups(recmap_filter *filter, const struct array_view *out) {
    for (size_t first = 0; first < out->count; first += GROUP_SIZE) {
        size_t left = out->count - first;
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status;
        Py_BEGIN_ALLOW_THREADS
        status = recmap_filter_match((uint8_t *)out->data + first, filter, first,
                                     left < GROUP_SIZE ? left : GROUP_SIZE, &error);
        Py_END_ALLOW_THREADS
        if (status != RECMAP_OK) {
            raise_error(&error);
            return 0;
        }
        if (PyErr_CheckSignals() < 0) return 0;
    }
    return 1;
}

static int match(struct handle_object *handle, const char *text, size_t size,
                 const struct array_view *out) {
    recmap_filter *filter = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (out->count != recmap_dataset_count(handle->dataset)) {
        PyErr_SetString(PyExc_ValueError, "the array must have one item per record");
        return 0;
    }
    if (recmap_filter_create(&filter, handle->dataset, text, size, &error) != RECMAP_OK) {
        raise_error(&error);
        return 0;
    }
    int is_matched = match_groups(filter, out);
    recmap_filter_destroy(filter);
    return is_matched;
}

PyObject *dataset_match(PyObject *object, PyObject *arguments) {
    const char *text;
    Py_ssize_t size;
    PyObject *target;
    if (!PyArg_ParseTuple(arguments, "s#O:_match", &text, &size, &target)) return NULL;
    struct array_view out = ARRAY_VIEW_INIT;
    if (!take_array_of(target, &out, 1, PyBUF_WRITABLE)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    int is_matched = handle && match(handle, text, (size_t)size, &out);
    handle_release(handle);
    array_release(&out);
    if (!is_matched) return NULL;
    Py_RETURN_NONE;
}

PyObject *dataset_save_selection(PyObject *object, PyObject *arguments) {
    PyObject *path = NULL;
    struct array_view numbers = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "O&O&:_save_selection", take_path, &path, take_array,
                          &numbers)) {
        Py_XDECREF(path);
        return NULL;
    }
    recmap_selection *selection = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_INVALID;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (handle) {
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        status = recmap_selection_create(&selection, handle->dataset, numbers.data, numbers.count,
                                         &error);
        if (status == RECMAP_OK) status = recmap_selection_save(selection, name, &error);
        recmap_selection_close(selection);
        Py_END_ALLOW_THREADS
        handle_release(handle);
        if (status != RECMAP_OK) raise_error(&error);
    }
    array_release(&numbers);
    Py_DECREF(path);
    if (status != RECMAP_OK) return NULL;
    Py_RETURN_NONE;
}

static PyObject *bytes_of(const recmap_selection *selection) {
    return PyBytes_FromStringAndSize(
        (const char *)recmap_selection_numbers(selection),
        (Py_ssize_t)(recmap_selection_count(selection) * sizeof(uint64_t)));
}

PyObject *dataset_read_selection(PyObject *object, PyObject *argument) {
    PyObject *path = NULL;
    if (!take_path(argument, &path)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) {
        Py_DECREF(path);
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    recmap_selection *selection = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_selection_open(&selection, name, 1, &error);
    if (status == RECMAP_OK) status = recmap_selection_attach(selection, handle->dataset, &error);
    Py_END_ALLOW_THREADS
    handle_release(handle);
    Py_DECREF(path);
    PyObject *numbers = status == RECMAP_OK ? bytes_of(selection) : raise_error(&error);
    recmap_selection_close(selection);
    return numbers;
}

PyObject *selection_index_path(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *path = NULL, *result;
    int allow_absolute_path;
    if (!PyArg_ParseTuple(arguments, "O&p:selection_index_path", take_path, &path,
                          &allow_absolute_path)) {
        Py_XDECREF(path);
        return NULL;
    }
    recmap_selection *selection = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    status = recmap_selection_open(&selection, name, allow_absolute_path, &error);
    Py_END_ALLOW_THREADS
    Py_DECREF(path);
    if (status != RECMAP_OK) result = raise_error(&error);
    else result = PyUnicode_DecodeFSDefault(recmap_selection_index_path(selection));
    recmap_selection_close(selection);
    return result;
}
