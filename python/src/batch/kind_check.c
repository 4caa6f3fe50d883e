/* The class KindCheck. One thread at a time uses an instance. */
#include <recmap/example.h>

#include "base/errors.h"
#include "base/module.h"

struct check_object {
    PyObject_HEAD
    recmap_kind_check *check;
    size_t shown_count; /* warnings that were returned */
};

static PyObject *check_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)arguments;
    (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct check_object *self = (struct check_object *)allocate(type, 0);
    if (!self || recmap_kind_check_create(&self->check, NULL) == RECMAP_OK) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return PyErr_NoMemory();
}

/* The warnings that were not returned yet, as a list of exceptions that are not raised. */
static PyObject *next_warnings(struct check_object *self) {
    const recmap_error *warning;
    PyObject *list = PyList_New(0);
    while (list && (warning = recmap_kind_check_warning(self->check, self->shown_count))) {
        PyObject *exception = exception_of_error(warning);
        self->shown_count++;
        if (!exception || PyList_Append(list, exception) < 0) Py_CLEAR(list);
        Py_XDECREF(exception);
    }
    return list;
}

/* add(record): None, or a list of warnings */
static PyObject *add(PyObject *object, PyObject *record) {
    struct check_object *self = (struct check_object *)object;
    Py_buffer bytes;
    if (PyObject_GetBuffer(record, &bytes, PyBUF_C_CONTIGUOUS) < 0) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_kind_check_add(self->check, bytes.buf, (size_t)bytes.len, &error);
    PyBuffer_Release(&bytes);
    if (status != RECMAP_OK) return raise_error(&error);
    if (recmap_kind_check_warning(self->check, self->shown_count)) return next_warnings(self);
    Py_RETURN_NONE;
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    recmap_kind_check_destroy(((struct check_object *)object)->check);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"add", add, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, check_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Finds records that change the kind of a feature."},
    {0, NULL},
};

PyType_Spec kind_check_spec = {
    .name = "recmap._recmap.KindCheck",
    .basicsize = sizeof(struct check_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
