#include "base/errors.h"

#include <string.h>

PyObject *OutOfRangeError;
static PyObject *exception_of_status;

int errors_load(void) {
    PyObject *module = PyImport_ImportModule("recmap._base.errors");
    if (!module) return 0;
    exception_of_status = PyObject_GetAttrString(module, "exception_of_status");
    OutOfRangeError = PyObject_GetAttrString(module, "OutOfRangeError");
    Py_DECREF(module);
    return exception_of_status && OutOfRangeError;
}

static PyObject *text_of(const char *bytes) {
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "backslashreplace");
}

/* The path as os.fsdecode returns it, or None for "". */
static PyObject *path_of(const char *path) {
    if (!*path) Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(path);
}

static PyObject *number_of(uint64_t number, uint64_t absent) {
    if (number == absent) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *exception_of(const char *status, const recmap_error *error) {
    PyObject *message = text_of(error->message);
    PyObject *advice = PyUnicode_DecodeFSDefault(error->advice); /* has names of files in code */
    PyObject *path = path_of(error->path);
    PyObject *record = number_of(error->record, RECMAP_NO_RECORD);
    PyObject *offset = number_of(error->offset, RECMAP_NO_OFFSET);
    PyObject *exception = NULL;
    if (message && advice && path && record && offset)
        exception = PyObject_CallFunction(exception_of_status, "sOOOOOi", status, message, path,
                                          record, offset, advice, error->system_errno);
    Py_XDECREF(message);
    Py_XDECREF(advice);
    Py_XDECREF(path);
    Py_XDECREF(record);
    Py_XDECREF(offset);
    return exception;
}

PyObject *exception_of_error(const recmap_error *error) {
    return exception_of(recmap_status_name(error->status), error);
}

static PyObject *raise_as(const char *status, const recmap_error *error) {
    if (PyErr_Occurred()) return NULL;
    PyObject *exception = exception_of(status, error);
    if (!exception) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return NULL;
}

PyObject *raise_error(const recmap_error *error) {
    return raise_as(recmap_status_name(error->status), error);
}

PyObject *raise_state_error(const recmap_error *error) {
    return error->status == RECMAP_CORRUPT ? raise_as("CORRUPT_STATE", error) : raise_error(error);
}

int raise_error_int(const recmap_error *error) {
    raise_error(error);
    return -1;
}
