#include "dataset/dataset.h"

#include <inttypes.h>

#include "base/critical.h"
#include "base/errors.h"
#include "base/module.h"
#include "dataset/annotation.h"
#include "dataset/batches.h"
#include "dataset/counted.h"
#include "dataset/doctor.h"
#include "dataset/duplicates.h"
#include "dataset/find.h"
#include "dataset/ids.h"
#include "dataset/info.h"
#include "dataset/lifted.h"
#include "dataset/schema.h"
#include "dataset/selection.h"
#include "dataset/verify.h"

struct handle_object *dataset_handle(struct dataset_object *dataset) {
    struct handle_object *handle;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)dataset);
    handle = dataset->handle;
    if (handle) handle_retain(handle);
    Py_END_CRITICAL_SECTION();
    if (!handle) PyErr_SetString(PyExc_ValueError, "the data set is closed");
    return handle;
}

/* ---- Items. */

static PyObject *item(PyObject *object, Py_ssize_t index) {
    struct dataset_object *self = (struct dataset_object *)object;
    struct handle_object *handle = dataset_handle(self);
    if (__builtin_expect(!handle, 0)) return NULL;
    if (index < 0 || (uint64_t)index >= self->count) {
        handle_release(handle);
        return PyErr_Format(
            OutOfRangeError, "record %zd is out of range: there %s %" PRIu64 " record%s", index,
            self->count == 1 ? "is" : "are", self->count, self->count == 1 ? "" : "s");
    }
    uint64_t number = self->numbers.data ? ((const uint64_t *)self->numbers.data)[index]
                                         : self->first + (uint64_t)index * (uint64_t)self->step;
    PyObject *view = handle_view(handle, number);
    handle_release(handle);
    return view;
}

static Py_ssize_t length(PyObject *object) {
    return (Py_ssize_t)((struct dataset_object *)object)->count;
}

static PyObject *subscript(PyObject *object, PyObject *key) {
    if (PyLong_CheckExact(key)) {
        Py_ssize_t small = PyLong_AsSsize_t(key);
        if (__builtin_expect(small >= 0, 1)) return item(object, small);
        PyErr_Clear(); /* negative or too large: convert it again below, for its own error */
    }
    if (!PyIndex_Check(key) || PyBool_Check(key))
        return PyObject_CallMethod(object, "_view", "(O)", key);
    Py_ssize_t index = PyNumber_AsSsize_t(key, OutOfRangeError);
    if (index == -1 && PyErr_Occurred()) {
        /* NumPy arrays have __index__, but only those with one item can be converted. */
        int is_too_large = PyErr_ExceptionMatches(OutOfRangeError);
        int is_wrong_type = PyErr_ExceptionMatches(PyExc_TypeError);
        if (!is_too_large && !is_wrong_type) return NULL;
        PyErr_Clear();
        if (is_too_large)
            return PyErr_Format(OutOfRangeError, "record %S is out of range: there are %zd records",
                                key, length(object));
        return PyObject_CallMethod(object, "_view", "(O)", key);
    }
    Py_ssize_t count = length(object);
    if (index < -count)
        return PyErr_Format(OutOfRangeError, "record %zd is out of range: there are %zd records",
                            index, count);
    return item(object, index < 0 ? index + count : index);
}

/* ---- The object. */

/* Takes over the reference to `fresh`, which can be NULL. */
static void replace_handle(struct dataset_object *self, struct handle_object *fresh) {
    struct handle_object *old;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)self);
    old = self->handle;
    self->handle = fresh;
    Py_END_CRITICAL_SECTION();
    handle_release(old);
}

static PyObject *close_dataset(PyObject *object, PyObject *unused) {
    (void)unused;
    replace_handle((struct dataset_object *)object, NULL);
    Py_RETURN_NONE;
}

static PyObject *get_handle(PyObject *object, void *unused) {
    (void)unused;
    return (PyObject *)dataset_handle((struct dataset_object *)object);
}

/* _use_handle(handle): continues with another open data set of as many records */
static PyObject *use_handle(PyObject *object, PyObject *handle) {
    struct dataset_object *self = (struct dataset_object *)object;
    struct handle_object *old = dataset_handle(self);
    if (!old) return NULL;
    struct handle_object *fresh = (struct handle_object *)handle;
    int fits = PyObject_TypeCheck(handle, handle_type) &&
               recmap_dataset_count(fresh->dataset) == recmap_dataset_count(old->dataset);
    handle_release(old);
    if (!fits) return PyErr_Format(PyExc_ValueError, "this is not a handle of the same records");
    handle_retain(fresh);
    replace_handle(self, fresh);
    Py_RETURN_NONE;
}

static PyObject *get_closed(PyObject *object, void *unused) {
    (void)unused;
    int is_closed;
    Py_BEGIN_CRITICAL_SECTION(object);
    is_closed = !((struct dataset_object *)object)->handle;
    Py_END_CRITICAL_SECTION();
    return PyBool_FromLong(is_closed);
}

/* (first, count, step, numbers or None) */
static PyObject *get_range(PyObject *object, void *unused) {
    (void)unused;
    struct dataset_object *self = (struct dataset_object *)object;
    PyObject *numbers = self->numbers.buffer.obj ? self->numbers.buffer.obj : Py_None;
    return Py_BuildValue("(KKLO)", (unsigned long long)self->first, (unsigned long long)self->count,
                         (long long)self->step, numbers);
}

/* Checks the selection once, so that reading items needs no check. IndexError if a record is out of
 * range. */
static int check_numbers(const struct dataset_object *self) {
    uint64_t record_count = recmap_dataset_count(self->handle->dataset);
    const uint64_t *numbers = self->numbers.data;
    for (uint64_t i = 0; numbers && i < self->count; i++)
        if (numbers[i] >= record_count) {
            PyErr_Format(OutOfRangeError,
                         "record %" PRIu64 " is out of range: there %s %" PRIu64 " record%s",
                         numbers[i], record_count == 1 ? "is" : "are", record_count,
                         record_count == 1 ? "" : "s");
            return -1;
        }
    if (numbers || !self->count) return 0;
    __int128 last = (__int128)self->first + (__int128)(self->count - 1) * self->step;
    if (self->first < record_count && last >= 0 && last < (__int128)record_count) return 0;
    PyErr_SetString(OutOfRangeError, "the range of records exceeds the data set");
    return -1;
}

/* Dataset(handle, first, count, step, numbers): numbers is None or an array of uint64. */
static PyObject *dataset_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)keywords;
    PyObject *handle, *numbers;
    uint64_t first, count;
    long long step;
    if (!PyArg_ParseTuple(arguments, "O!O&O&LO:Dataset", handle_type, &handle, take_uint64, &first,
                          take_uint64, &count, &step, &numbers))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct dataset_object *self = (struct dataset_object *)allocate(type, 0);
    if (!self) return NULL;
    self->handle = (struct handle_object *)handle;
    handle_retain(self->handle);
    self->first = first;
    self->count = count;
    self->step = step;
    int is_taken = numbers == Py_None ||
                   take_array_of(numbers, &self->numbers, sizeof(uint64_t), PyBUF_SIMPLE);
    if (numbers != Py_None) self->count = self->numbers.count;
    if (!is_taken || check_numbers(self) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    PyObject *handle = (PyObject *)((struct dataset_object *)object)->handle;
    Py_VISIT(handle);
    return 0;
}

static int clear(PyObject *object) {
    replace_handle((struct dataset_object *)object, NULL);
    return 0;
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    array_release(&((struct dataset_object *)object)->numbers);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"_gather", dataset_gather, METH_VARARGS, NULL},
    {"_parse", dataset_parse, METH_VARARGS, NULL},
    {"_rows", dataset_rows, METH_VARARGS, NULL},
    {"_find", dataset_find, METH_VARARGS, NULL},
    {"_find_all", dataset_find_all, METH_VARARGS, NULL},
    {"_find_many", dataset_find_many, METH_VARARGS, NULL},
    {"_find_records", dataset_find_records, METH_VARARGS, NULL},
    {"_annotate", dataset_annotate, METH_VARARGS, NULL},
    {"_find_duplicates", dataset_find_duplicates, METH_VARARGS, NULL},
    {"_match", dataset_match, METH_VARARGS, NULL},
    {"_save_selection", dataset_save_selection, METH_VARARGS, NULL},
    {"_read_selection", dataset_read_selection, METH_O, NULL},
    {"_read_id_hashes", dataset_read_id_hashes, METH_VARARGS, NULL},
    {"_column_table", dataset_column_table, METH_NOARGS, NULL},
    {"_annotated_columns", dataset_annotated_columns, METH_NOARGS, NULL},
    {"_counted_table", dataset_counted_table, METH_NOARGS, NULL},
    {"_read_counts", dataset_read_counts, METH_O, NULL},
    {"_read_numbers", dataset_read_numbers, METH_VARARGS, NULL},
    {"_read_bytes", dataset_read_bytes, METH_VARARGS, NULL},
    {"_read_nulls", dataset_read_nulls, METH_VARARGS, NULL},
    {"_shard_table", dataset_shard_table, METH_NOARGS, NULL},
    {"_info_json", dataset_info_json, METH_VARARGS, NULL},
    {"_missing_shards", dataset_missing_shards, METH_NOARGS, NULL},
    {"_fingerprint", dataset_fingerprint, METH_NOARGS, NULL},
    {"_begins_with", dataset_begins_with_fingerprint, METH_VARARGS, NULL},
    {"_id_name", dataset_id_name, METH_NOARGS, NULL},
    {"_header", dataset_header, METH_NOARGS, NULL},
    {"_record_count", dataset_record_count, METH_NOARGS, NULL},
    {"_verify", dataset_verify, METH_VARARGS, NULL},
    {"_examine", dataset_examine, METH_VARARGS, NULL},
    {"_schema", dataset_schema, METH_VARARGS, NULL},
    {"_use_handle", use_handle, METH_O, NULL},
    {"_close", close_dataset, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"_handle", get_handle, NULL, NULL, NULL},
    {"_range", get_range, NULL, NULL, NULL},
    {"closed", get_closed, NULL, "True after close().", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, dataset_new},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_mp_subscript, subscript},
    {Py_mp_length, length},
    {Py_sq_item, item},
    {Py_sq_length, length},
    {Py_tp_doc, "The base class of Dataset."},
    {0, NULL},
};

PyType_Spec dataset_spec = {
    .name = "recmap._recmap.Dataset",
    .basicsize = sizeof(struct dataset_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
