#include "batch/batch.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/critical.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/signals.h"
#include "base/view.h"

/* The Python class RecordBatch, which batches are instances of. */
static PyObject *batch_class;

PyObject *batch_set_class(PyObject *module, PyObject *class) {
    (void)module;
    Py_INCREF(class);
    Py_XDECREF(batch_class);
    batch_class = class;
    Py_RETURN_NONE;
}

/* ---- What the object and its exports share. */

static struct shared_batch *shared_create(struct handle_object *handle, recmap_batch *batch,
                                          recmap_parser *parser) {
    struct shared_batch *shared = malloc(sizeof *shared);
    if (!shared) {
        handle_give_batch(handle, batch);
        PyErr_NoMemory();
        return NULL;
    }
    handle_retain(handle);
    *shared = (struct shared_batch){.users = 1, .handle = handle, .batch = batch};
    if (parser) shared->parser = recmap_parser_retain(parser);
    return shared;
}

void shared_batch_release(struct shared_batch *shared) {
    if (atomic_fetch_sub(&shared->users, 1) > 1) return;
    handle_give_batch(shared->handle, shared->batch);
    handle_release(shared->handle);
    recmap_parser_release(shared->parser);
    free(shared);
}

/* Only exported arrays still use the columns. Parsing no records into them releases the columns'
 * own hold on the memory, so that its owner, the shared batch, ends with the last export. If memory
 * is too short for that, the batch lives on until the process ends. */
static void give_up_columns(const struct shared_batch *shared) {
    if (!shared->is_exported) return;
    recmap_columns *columns = recmap_batch_columns(shared->batch);
    recmap_status status =
        recmap_parser_parse(columns, shared->parser, NULL, 0, RECMAP_PARSE_RAISE, NULL);
    (void)status;
}

PyObject *batch_wrap(struct handle_object *handle, recmap_batch *batch, recmap_parser *parser) {
    struct shared_batch *shared = shared_create(handle, batch, parser);
    if (!shared) return NULL;
    PyTypeObject *type = (PyTypeObject *)batch_class;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct batch_object *object = (struct batch_object *)allocate(type, 0);
    if (!object) {
        shared_batch_release(shared);
        return NULL;
    }
    object->shared = shared;
    object->step = recmap_batch_step(batch);
    return (PyObject *)object;
}

/* ---- Reading. */

/* A batch that is being read without the GIL. Another thread may close the data set meanwhile, so
 * the handle is retained; signals are answered through the batch's interrupt. */
struct batch_reading {
    struct handle_object *handle;
    recmap_batch *batch;
    struct signal_check check;
};

static int reading_start(struct batch_reading *reading, struct handle_object *handle) {
    reading->handle = handle;
    reading->batch = handle_take_batch(handle);
    if (!reading->batch) return 0;
    handle_retain(handle);
    signals_start(&reading->check);
    recmap_batch_set_interrupt(reading->batch, signals_raised, &reading->check);
    return 1;
}

/* Returns the batch as an object, or NULL after raising the error. */
static PyObject *reading_stop(struct batch_reading *reading, recmap_parser *parser,
                              recmap_status status, const recmap_error *error) {
    recmap_batch_set_interrupt(reading->batch, NULL, NULL);
    signals_stop(&reading->check);
    PyObject *batch = NULL;
    if (status == RECMAP_OK) batch = batch_wrap(reading->handle, reading->batch, parser);
    else {
        handle_give_batch(reading->handle, reading->batch);
        raise_error(error);
    }
    handle_release(reading->handle);
    return batch;
}

PyObject *batch_gather(struct handle_object *handle, const uint64_t *numbers, size_t count,
                       recmap_parser *parser, recmap_parse_mode mode, unsigned thread_count,
                       const recmap_draws *draws) {
    struct batch_reading reading;
    if (!reading_start(&reading, handle)) return NULL;
    recmap_batch *batch = reading.batch;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch_set_threads(batch, thread_count);
    recmap_batch_set_draws(batch, draws);
    recmap_status status =
        parser ? recmap_dataset_parse(batch, handle->dataset, parser, numbers, count, mode, &error)
               : recmap_dataset_gather(batch, handle->dataset, numbers, count, &error);
    recmap_batch_set_draws(batch, NULL); /* the positions are the caller's */
    return reading_stop(&reading, parser, status, &error);
}

PyObject *batch_cut(struct handle_object *handle, const recmap_order *order, recmap_parser *parser,
                    uint64_t epoch, const uint64_t *positions, size_t count,
                    const recmap_draws *draws) {
    struct batch_reading reading;
    if (!reading_start(&reading, handle)) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch_set_draws(reading.batch, draws);
    recmap_status status = recmap_dataset_rows(reading.batch, handle->dataset, order, parser, epoch,
                                               positions, count, &error);
    recmap_batch_set_draws(reading.batch, NULL);
    return reading_stop(&reading, parser, status, &error);
}

recmap_columns *batch_columns(struct batch_object *batch) {
    recmap_columns *columns = recmap_batch_columns(batch->shared->batch);
    if (!batch->shared->parser || !columns) {
        PyErr_SetString(PyExc_TypeError, "the batch was not parsed: it has no columns");
        return NULL;
    }
    return columns;
}

/* ---- The sequence. */

static Py_ssize_t length(PyObject *object) {
    return (Py_ssize_t)recmap_batch_count(((struct batch_object *)object)->shared->batch);
}

static const recmap_record *records_of(PyObject *object) {
    return recmap_batch_records(((struct batch_object *)object)->shared->batch);
}

static PyObject *item(PyObject *object, Py_ssize_t index) {
    Py_ssize_t count = length(object);
    if (index < 0 || index >= count)
        return PyErr_Format(OutOfRangeError,
                            "record %zd is out of range: the batch has %zd records", index, count);
    const recmap_record *record = &records_of(object)[index];
    if (record->size && !record->data)
        return PyErr_Format(PyExc_ValueError,
                            "record %" PRIu64
                            " was read only in part, for the rows: read all of it with "
                            "data_set.gather([%" PRIu64 "])",
                            record->number, record->number);
    return view_create(object, record->data, record->size);
}

static PyObject *slice(PyObject *object, PyObject *key) {
    Py_ssize_t first, stop, step;
    if (PySlice_Unpack(key, &first, &stop, &step) < 0) return NULL;
    Py_ssize_t count = PySlice_AdjustIndices(length(object), &first, &stop, step);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *view = item(object, first + i * step);
        if (!view) Py_CLEAR(list);
        else PyList_SetItem(list, i, view);
    }
    return list;
}

/* The records at the positions that a list gives. */
static PyObject *select_items(PyObject *object, PyObject *positions) {
    Py_ssize_t count = PyList_Size(positions);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        /* PyObject_GetItem can run an __index__ that changes the list, so hold a reference. */
        PyObject *position = PySequence_GetItem(positions, i);
        PyObject *view = position ? PyObject_GetItem(object, position) : NULL;
        Py_XDECREF(position);
        if (!view) Py_CLEAR(list);
        else PyList_SetItem(list, i, view);
    }
    return list;
}

static PyObject *subscript(PyObject *object, PyObject *key) {
    if (PySlice_Check(key)) return slice(object, key);
    if (PyList_Check(key)) return select_items(object, key);
    if (PyUnicode_Check(key)) {
        PyErr_SetString(PyExc_TypeError,
                        "this batch has records that were not parsed, so it has no columns: pass "
                        "features to the loader, or use parse instead of gather");
        return NULL;
    }
    Py_ssize_t index = PyNumber_AsSsize_t(key, OutOfRangeError);
    if (index == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(OutOfRangeError)) return NULL;
        PyErr_Clear();
        return PyErr_Format(OutOfRangeError, "record %S is out of range: the batch has %zd records",
                            key, length(object));
    }
    /* An index that is too low is named as it was given. */
    return item(object, index < 0 && index >= -length(object) ? index + length(object) : index);
}

/* _read_numbers(numbers, sizes): into arrays of uint64 */
static PyObject *read_numbers(PyObject *object, PyObject *arguments) {
    const recmap_record *records = records_of(object);
    size_t count = (size_t)length(object);
    struct array_view numbers = ARRAY_VIEW_INIT, sizes = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "O&O&:_read_numbers", take_array_out, &numbers, take_array_out,
                          &sizes))
        return NULL;
    for (size_t i = 0; i < count && i < numbers.count && i < sizes.count; i++) {
        ((uint64_t *)numbers.data)[i] = records[i].number;
        ((uint64_t *)sizes.data)[i] = records[i].size;
    }
    array_release(&numbers);
    array_release(&sizes);
    Py_RETURN_NONE;
}

static PyObject *get_bytes(PyObject *object, void *unused) {
    (void)unused;
    const recmap_record *records = records_of(object);
    unsigned long long sum = 0;
    for (Py_ssize_t i = 0; i < length(object); i++) sum += records[i].size;
    return PyLong_FromUnsignedLongLong(sum);
}

static void dealloc(PyObject *object) {
    struct shared_batch *shared = ((struct batch_object *)object)->shared;
    PyTypeObject *type = Py_TYPE(object);
    if (shared) {
        give_up_columns(shared);
        shared_batch_release(shared);
    }
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* Columns belong to one thread at a time, and an export changes their owner. */
LOCKED_METHOD(batch_describe_columns)
LOCKED_METHOD(batch_null_columns)
LOCKED_METHOD(batch_failures)
LOCKED_METHOD(batch_dlpack)

static const recmap_batch *drawn_batch(PyObject *object) {
    const recmap_batch *batch = ((struct batch_object *)object)->shared->batch;
    if (recmap_batch_has_draws(batch)) return batch;
    PyErr_SetString(PyExc_ValueError,
                    "the batch is not of a loader, so it has no epoch: give the epoch and the seed "
                    "of the run, ds.parse(numbers, features, epoch=..., seed=...)");
    return NULL;
}

static size_t item_count(const recmap_batch *batch) {
    const recmap_pieces *rows = recmap_batch_pieces(batch);
    return rows ? rows->row_count : recmap_batch_count(batch);
}

/* _place() -> (epoch, bytes of uint64 positions or None); ValueError without draws */
static PyObject *place(PyObject *object, PyObject *unused) {
    (void)unused;
    const recmap_batch *batch = drawn_batch(object);
    if (!batch) return NULL;
    size_t size = item_count(batch) * sizeof(uint64_t);
    return Py_BuildValue("(Ky#)", (unsigned long long)recmap_batch_epoch(batch),
                         (const char *)recmap_batch_positions(batch), (Py_ssize_t)size);
}

/* _seeds(name) -> bytearray of uint64 */
static PyObject *seeds(PyObject *object, PyObject *name) {
    const recmap_batch *batch = drawn_batch(object);
    Py_ssize_t size;
    const char *text = batch ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;
    if (!text) return NULL;
    size_t count = item_count(batch);
    PyObject *array = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(uint64_t)));
    if (!array) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t *out = (uint64_t *)(void *)PyByteArray_AsString(array);
    if (recmap_batch_seeds(out, batch, text, &error) == RECMAP_OK) return array;
    Py_DECREF(array);
    return raise_error(&error);
}

/* _step() -> the step of the loader's run, or None of a batch that is not a loader's */
static PyObject *step(PyObject *object, PyObject *unused) {
    (void)unused;
    uint64_t number = ((struct batch_object *)object)->step;
    if (number == RECMAP_NO_STEP) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(number);
}

/* _set_step(step or None), before the batch is delivered: of a join, the first data set's loader
 * counts for all; and no loader counts the steps of several worker processes. */
static PyObject *set_step(PyObject *object, PyObject *number) {
    uint64_t value = RECMAP_NO_STEP;
    if (number != Py_None && !take_uint64(number, &value)) return NULL;
    ((struct batch_object *)object)->step = value;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_place", place, METH_NOARGS, NULL},
    {"_step", step, METH_NOARGS, NULL},
    {"_set_step", set_step, METH_O, NULL},
    {"_seeds", seeds, METH_O, NULL},
    {"_read_numbers", read_numbers, METH_VARARGS, NULL},
    {"_columns", locked_batch_describe_columns, METH_NOARGS, NULL},
    {"_null_columns", locked_batch_null_columns, METH_NOARGS, NULL},
    {"_failures", locked_batch_failures, METH_NOARGS, NULL},
    {"_pieces", batch_pieces, METH_NOARGS, NULL},
    {"_row_width", batch_row_width, METH_NOARGS, NULL},
    {"_read_layout", batch_read_layout, METH_VARARGS, NULL},
    {"_sequences", batch_sequences, METH_VARARGS, NULL},
    {"_arrow_array", batch_arrow_array, METH_O, NULL},
    {"_arrow_stream", batch_arrow_stream, METH_NOARGS, NULL},
    {"_dlpack", locked_batch_dlpack, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"nbytes", get_bytes, NULL, "The total size of the records in bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_bf_getbuffer, view_get_buffer},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_mp_subscript, subscript},
    {Py_mp_length, length},
    {Py_sq_item, item},
    {Py_sq_length, length},
    {Py_tp_doc, "The base class of RecordBatch."},
    {0, NULL},
};

PyType_Spec batch_spec = {
    .name = "recmap._recmap.RecordBatch",
    .basicsize = sizeof(struct batch_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
