/* A loader as an object. One thread uses it at a time: others wait at its lock. */
#include "arguments.h"
#include "batch.h"
#include "errors.h"
#include "module.h"
#include "order.h"
#include "parser.h"

typedef struct loader_object {
    PyObject_HEAD
    recmap_loader *loader;
    handle_object *handle;
    recmap_parser *parser; /* or NULL */
    PyThread_type_lock lock;
} loader_object;

/* Signals are looked at this often while a batch is not ready. */
#define WAIT_NS 50000000u

static void lock(loader_object *self) {
    if (PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) return;
    Py_BEGIN_ALLOW_THREADS
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

static void unlock(loader_object *self) {
    PyThread_release_lock(self->lock);
}

static PyObject *loader_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"handle",  "order", "batch_size", "rank",      "world_size", "last",
                            "threads", "ahead", "on_error",   "readahead", "parser",     NULL};
    PyObject *handle, *order;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    int last = 0, bad_record = 0, readahead = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!O&O&O&iO&O&iiO&:Loader", names,
                                     handle_type, &handle, order_type, &order, take_uint64,
                                     &options.batch_size, take_unsigned, &options.rank,
                                     take_unsigned, &options.world_size, &last, take_unsigned,
                                     &options.thread_count, take_unsigned, &options.batches_ahead,
                                     &bad_record, &readahead, take_parser, &options.parser))
        return NULL;
    options.last = (recmap_last)last;
    options.bad_record = (recmap_bad_record)bad_record;
    options.readahead = (recmap_readahead)readahead;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    loader_object *self = (loader_object *)allocate(type, 0);
    if (!self) return NULL;
    self->handle = (handle_object *)handle;
    handle_retain(self->handle);
    if (options.parser) self->parser = recmap_parser_retain(options.parser);
    self->lock = PyThread_allocate_lock();
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    if (!self->lock) PyErr_NoMemory();
    else
        status = recmap_loader_create(&self->loader, self->handle->dataset,
                                      ((order_object *)order)->order, &options, &error);
    if (status != RECMAP_OK) raise_error(&error);
    if (self->loader) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* Until a batch is ready, or a signal's handler raised. */
static int wait(loader_object *self) {
    int is_ready = 0;
    while (!is_ready) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status;
        Py_BEGIN_ALLOW_THREADS
        status = recmap_loader_wait(&is_ready, self->loader, WAIT_NS, &error);
        Py_END_ALLOW_THREADS
        if (status != RECMAP_OK) return raise_error_int(&error);
        if (PyErr_CheckSignals() < 0) return -1;
    }
    return 0;
}

static PyObject *take(loader_object *self) {
    recmap_batch *batch = handle_take_batch(self->handle);
    if (!batch) return NULL;
    recmap_batch *given = batch;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_loader_next(&batch, self->loader, &error);
    Py_END_ALLOW_THREADS
    if (status != RECMAP_OK) {
        handle_give_batch(self->handle, given);
        return raise_error(&error);
    }
    if (!batch) Py_RETURN_NONE;
    return batch_wrap(self->handle, batch, self->parser);
}

/* next() -> (RecordBatch or None at the end of the epoch, epoch, position) */
static PyObject *next(PyObject *object, PyObject *unused) {
    (void)unused;
    loader_object *self = (loader_object *)object;
    lock(self);
    PyObject *batch = wait(self) < 0 ? NULL : take(self);
    uint64_t epoch = 0, position = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    if (batch) status = recmap_loader_tell(&epoch, &position, self->loader, &error);
    unlock(self);
    if (!batch) return NULL;
    if (status != RECMAP_OK) {
        Py_DECREF(batch);
        return raise_error(&error);
    }
    return Py_BuildValue("(NKK)", batch, (unsigned long long)epoch, (unsigned long long)position);
}

static PyObject *tell(PyObject *object, PyObject *unused) {
    (void)unused;
    loader_object *self = (loader_object *)object;
    uint64_t epoch = 0, position = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    lock(self);
    recmap_status status = recmap_loader_tell(&epoch, &position, self->loader, &error);
    unlock(self);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("(KK)", (unsigned long long)epoch, (unsigned long long)position);
}

static PyObject *steps_left(PyObject *object, PyObject *unused) {
    (void)unused;
    loader_object *self = (loader_object *)object;
    uint64_t count = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    lock(self);
    recmap_status status = recmap_loader_steps_left(&count, self->loader, &error);
    unlock(self);
    return status == RECMAP_OK ? PyLong_FromUnsignedLongLong(count) : raise_error(&error);
}

static PyObject *seek(PyObject *object, PyObject *arguments) {
    loader_object *self = (loader_object *)object;
    uint64_t epoch, position;
    if (!PyArg_ParseTuple(arguments, "O&O&:seek", take_uint64, &epoch, take_uint64, &position))
        return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    lock(self);
    Py_BEGIN_ALLOW_THREADS
    status = recmap_loader_seek(self->loader, epoch, position, &error);
    Py_END_ALLOW_THREADS
    unlock(self);
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

/* load(JSON of a state) */
static PyObject *load(PyObject *object, PyObject *arguments) {
    loader_object *self = (loader_object *)object;
    const char *text;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "s#:load", &text, &size)) return NULL;
    recmap_state *state = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_state_from_json(&state, text, (size_t)size, &error);
    lock(self);
    Py_BEGIN_ALLOW_THREADS
    if (status == RECMAP_OK) status = recmap_loader_load(self->loader, state, &error);
    Py_END_ALLOW_THREADS
    unlock(self);
    recmap_state_destroy(state);
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

static PyObject *statistics(PyObject *object, PyObject *unused) {
    (void)unused;
    recmap_loader_statistics found;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_loader_get_statistics(&found, ((loader_object *)object)->loader, &error);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsIsI}", "batches", (unsigned long long)found.batch_count,
                         "records", (unsigned long long)found.record_count, "bytes",
                         (unsigned long long)found.byte_count, "caller_wait_ns",
                         (unsigned long long)found.caller_wait_ns, "worker_wait_ns",
                         (unsigned long long)found.worker_wait_ns, "skipped",
                         (unsigned long long)found.skipped_count, "readahead",
                         (unsigned long long)found.readahead_count, "readahead_records",
                         (unsigned long long)found.readahead_records, "threads", found.thread_count,
                         "batches_ready", found.batches_ready);
}

static PyObject *skipped_row(const recmap_skipped *skipped) {
    PyObject *substitute = Py_None;
    if (skipped->substitute == RECMAP_NO_RECORD) Py_INCREF(substitute);
    else substitute = PyLong_FromUnsignedLongLong(skipped->substitute);
    if (!substitute) return NULL;
    return Py_BuildValue("(KKKN)", (unsigned long long)skipped->epoch,
                         (unsigned long long)skipped->position, (unsigned long long)skipped->number,
                         substitute);
}

/* skipped() -> [(epoch, position, number, substitute or None)] */
static PyObject *skipped(PyObject *object, PyObject *unused) {
    (void)unused;
    enum { AT_ONCE = 64 };
    PyObject *list = PyList_New(0);
    recmap_skipped some[AT_ONCE];
    size_t count = AT_ONCE;
    for (size_t first = 0; list && count == AT_ONCE; first += count) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_loader_get_skipped(
            some, AT_ONCE, &count, ((loader_object *)object)->loader, first, &error);
        if (status != RECMAP_OK) {
            Py_DECREF(list);
            return raise_error(&error);
        }
        for (size_t i = 0; list && i < count; i++) {
            PyObject *row = skipped_row(&some[i]);
            if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
            Py_XDECREF(row);
        }
    }
    return list;
}

static void dealloc(PyObject *object) {
    loader_object *self = (loader_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    Py_BEGIN_ALLOW_THREADS
    recmap_loader_destroy(self->loader);
    Py_END_ALLOW_THREADS
    if (self->lock) PyThread_free_lock(self->lock);
    recmap_parser_release(self->parser);
    handle_release(self->handle);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"next", next, METH_NOARGS, NULL},
    {"tell", tell, METH_NOARGS, NULL},
    {"steps_left", steps_left, METH_NOARGS, NULL},
    {"seek", seek, METH_VARARGS, NULL},
    {"load", load, METH_VARARGS, NULL},
    {"statistics", statistics, METH_NOARGS, NULL},
    {"skipped", skipped, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, loader_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What the class Loader holds."},
    {0, NULL},
};

PyType_Spec loader_spec = {
    .name = "recmap._recmap.Loader",
    .basicsize = sizeof(loader_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
