#include "order/counts.h"

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/signals.h"

PyObject *counts_wrap(recmap_counts *counts) {
    struct counts_object *object = PyObject_New(struct counts_object, counts_type);
    if (object) object->counts = counts;
    else recmap_counts_release(counts);
    return (PyObject *)object;
}

static recmap_counts *counts_of(PyObject *object) {
    return ((struct counts_object *)object)->counts;
}

int take_counts(PyObject *object, void *counts) {
    if (!PyObject_TypeCheck(object, counts_type)) {
        PyErr_SetString(PyExc_TypeError, "not a Counts object");
        return 0;
    }
    *(recmap_counts **)counts = counts_of(object);
    return 1;
}

/* make(array): contiguous, of unsigned integers of 1, 2, 4 or 8 bytes */
static PyObject *make(PyObject *unused, PyObject *array) {
    (void)unused;
    struct array_view values = ARRAY_VIEW_INIT;
    if (!take_array_of_any(array, &values)) return NULL;
    recmap_counts *counts = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_counts_create(&counts, values.data, (size_t)values.buffer.itemsize,
                                  values.count, &error);
    signals_stop(&check);
    array_release(&values);
    return status == RECMAP_OK ? counts_wrap(counts) : raise_error(&error);
}

/* run(out, first): as many counts as `out` has items, from record `first` on */
static PyObject *run(PyObject *object, PyObject *arguments) {
    struct array_view values = ARRAY_VIEW_INIT;
    uint64_t first;
    if (!PyArg_ParseTuple(arguments, "O&O&:run", take_array_out, &values, take_uint64, &first))
        return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_counts_read(values.data, counts_of(object), first, values.count, &error);
    Py_END_ALLOW_THREADS
    array_release(&values);
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

static PyObject *record_count(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(recmap_counts_record_count(counts_of(object)));
}

static PyObject *longest(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(recmap_counts_longest(counts_of(object)));
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    recmap_counts_release(counts_of(object));
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"make", make, METH_O | METH_STATIC, NULL},
    {"run", run, METH_VARARGS, NULL},
    {"record_count", record_count, METH_NOARGS, NULL},
    {"longest", longest, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Packed element counts."},
    {0, NULL},
};

PyType_Spec counts_spec = {
    .name = "recmap._recmap.Counts",
    .basicsize = sizeof(struct counts_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
