#include "index/handle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arguments.h"
#include "base/critical.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/signals.h"
#include "base/view.h"
#include "index/extraction.h"
#include "index/storage.h"

/* A record that pins its shard or a buffer. Exports the record's bytes, and releases the pin. */
struct record_object {
    PyObject_HEAD
    struct handle_object *handle;
    recmap_record record;
};

/* ---- One record. Releasing and taking the GIL costs as much as looking up a record that is in
 * memory, so it should only be released for slow lookups, such as page faults and large records.
 * These cannot be predicted: one lookup in TIMED_ONE_IN is timed, and a slow one makes the next
 * WAITS_AFTER_SLOW lookups release the GIL. */

enum { TIMED_ONE_IN = 16, WAITS_AFTER_SLOW = 256, SLOW_NS = 20000 };

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The counters only guide a guess, so counts that threads lose to each other do not matter. Plain
 * loads and stores cost nothing, unlike an atomic increment. */
static unsigned load(atomic_uint *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void store(atomic_uint *counter, unsigned value) {
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

static void learn(struct handle_object *handle, uint64_t taken_ns) {
    unsigned waits = load(&handle->waits);
    if (taken_ns > SLOW_NS) store(&handle->waits, WAITS_AFTER_SLOW);
    else if (waits) store(&handle->waits, waits - 1);
}

static recmap_status get_without_gil(recmap_record *record, struct handle_object *handle,
                                     uint64_t number, recmap_error *error) {
    struct signal_check check;
    signals_start(&check);
    uint64_t start_ns = now_ns();
    recmap_status status = recmap_dataset_get(record, handle->dataset, number, error);
    uint64_t taken_ns = now_ns() - start_ns;
    signals_stop(&check);
    learn(handle, taken_ns);
    return status;
}

static recmap_status check(struct handle_object *handle, const recmap_peek *peek) {
    unsigned lookups = load(&handle->lookups);
    store(&handle->lookups, lookups + 1);
    if (lookups % TIMED_ONE_IN) return recmap_dataset_check(handle->dataset, peek, NULL);
    uint64_t start_ns = now_ns();
    recmap_status status = recmap_dataset_check(handle->dataset, peek, NULL);
    learn(handle, now_ns() - start_ns);
    return status;
}

/* Raises the error of a record whose check failed, by reading it again. */
static PyObject *raise_get(struct handle_object *handle, uint64_t number) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    struct signal_check check;
    signals_start(&check);
    recmap_status status = recmap_dataset_get(&record, handle->dataset, number, &error);
    if (status == RECMAP_OK) recmap_record_release(&record);
    signals_stop(&check);
    if (status != RECMAP_OK) return raise_error(&error);
    return PyErr_Format(PyExc_RuntimeError,
                        "record %" PRIu64
                        " could only be read at the second attempt; the storage is unreliable",
                        number);
}

static PyObject *view_pinned(struct handle_object *handle, recmap_record *record) {
    struct record_object *keeper = PyObject_New(struct record_object, record_type);
    if (!keeper) {
        recmap_record_release(record);
        return NULL;
    }
    handle_retain(handle);
    keeper->handle = handle;
    keeper->record = *record;
    PyObject *view = view_create((PyObject *)keeper, record->data, record->size);
    Py_DECREF((PyObject *)keeper);
    return view;
}

/* Creates the memoryview first, while the prefetched bytes of the record arrive from memory. */
static PyObject *view_peeked(struct handle_object *handle, const recmap_peek *peek) {
    PyObject *view = view_create((PyObject *)handle, peek->data, peek->size);
    if (!view || __builtin_expect(check(handle, peek) == RECMAP_OK, 1)) return view;
    Py_DECREF(view);
    return raise_get(handle, peek->number);
}

static PyObject *view_gotten(struct handle_object *handle, uint64_t number) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    if (get_without_gil(&record, handle, number, &error) != RECMAP_OK) return raise_error(&error);
    if (record.pin) return view_pinned(handle, &record);
    return view_create((PyObject *)handle, record.data, record.size);
}

PyObject *handle_view(struct handle_object *handle, uint64_t number) {
    recmap_peek peek;
    return !load(&handle->waits) && recmap_dataset_peek(&peek, handle->dataset, number)
               ? view_peeked(handle, &peek)
               : view_gotten(handle, number);
}

static void record_dealloc(PyObject *object) {
    struct record_object *record = (struct record_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    recmap_record_release(&record->record);
    handle_release(record->handle);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyType_Slot record_slots[] = {
    {Py_tp_dealloc, record_dealloc},
    {Py_bf_getbuffer, view_get_buffer},
    {Py_tp_doc, "Owns the bytes of one record: the `obj` of its memoryview."},
    {0, NULL},
};

PyType_Spec record_spec = {
    .name = "recmap._recmap.Record",
    .basicsize = sizeof(struct record_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = record_slots,
};

/* ---- Spare batches. */

recmap_batch *handle_take_batch(struct handle_object *handle) {
    recmap_batch *batch = NULL;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)handle);
    if (handle->spare_count) batch = handle->spares[--handle->spare_count];
    Py_END_CRITICAL_SECTION();
    if (!batch && recmap_batch_create(&batch, NULL) != RECMAP_OK) PyErr_NoMemory();
    return batch;
}

void handle_give_batch(struct handle_object *handle, recmap_batch *batch) {
    if (!batch) return;
    recmap_batch_clear(batch);
    int is_kept;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)handle);
    is_kept = handle->spare_count < HANDLE_SPARES;
    if (is_kept) handle->spares[handle->spare_count++] = batch;
    Py_END_CRITICAL_SECTION();
    if (!is_kept) recmap_batch_destroy(batch);
}

/* ---- The object. */

static int open_dataset(struct handle_object *handle, const char *path,
                        const recmap_dataset_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_dataset_open(&handle->dataset, path, options, &error);
    Py_END_ALLOW_THREADS
    return status == RECMAP_OK ? 0 : raise_error_int(&error);
}

/* `path`, `shards` and `cache` own the bytes that the options borrow, so they are released after
 * the data set is open. */
static PyObject *handle_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"path",
                            "access",
                            "header_only",
                            "check_index",
                            "index_in_memory",
                            "guard",
                            "shard_limit",
                            "allow_absolute_paths",
                            "span_keep_size",
                            "shards",
                            "allow_urls",
                            "storage",
                            "cache",
                            "cache_size",
                            "allow_missing_shards",
                            "extraction",
                            NULL};
    PyObject *path = NULL, *shards = NULL, *cache = NULL, *extraction = Py_None;
    recmap_message_lift *lift = NULL;
    int access = 0, header_only = 0, check_index = 0;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "O&|ippppO&pO&O&pO&O&O&pO:Handle", names, take_path, &path,
            &access, &header_only, &check_index, &options.index_in_memory, &options.guard,
            take_unsigned, &options.shard_limit, &options.allow_absolute_paths, take_uint64,
            &options.span_keep_size, take_path_or_none, &shards, &options.allow_urls, take_storage,
            &options.storage, take_path_or_none, &cache, take_uint64, &options.cache_size,
            &options.allow_missing_shards, &extraction) ||
        !take_message_lift(extraction, &lift))
        return NULL;
    options.lift = lift ? recmap_message_lift_read : NULL;
    options.lift_context = lift;
    options.shards = shards ? PyBytes_AsString(shards) : NULL;
    options.cache = cache ? PyBytes_AsString(cache) : NULL;
    options.access = (recmap_access)access;
    options.check = header_only ? RECMAP_CHECK_HEADER : RECMAP_CHECK_DATA;
    options.index_check = check_index ? RECMAP_INDEX_CHECK_FULL : RECMAP_INDEX_CHECK_LAZY;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct handle_object *handle = (struct handle_object *)allocate(type, 0);
    if (handle && lift) {
        Py_INCREF(extraction);
        handle->extraction = extraction;
    }
    if (handle && open_dataset(handle, PyBytes_AsString(path), &options) < 0) {
        handle_release(handle);
        handle = NULL;
    }
    Py_XDECREF(cache);
    Py_XDECREF(shards);
    Py_DECREF(path);
    return (PyObject *)handle;
}

/* Fills `datasets` with the data sets of a tuple of handles. */
static int take_parts(recmap_dataset **datasets, PyObject *type, PyObject *parts) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(parts); i++) {
        PyObject *part = PyTuple_GetItem(parts, i);
        int is_handle = PyObject_IsInstance(part, type);
        if (is_handle < 0) return -1;
        if (!is_handle) {
            PyErr_SetString(PyExc_TypeError, "a part is not a Handle");
            return -1;
        }
        datasets[i] = ((struct handle_object *)part)->dataset;
    }
    return 0;
}

/* concat((Handle, ...)): a handle that keeps the others. */
static PyObject *handle_concat(PyObject *type, PyObject *arguments) {
    PyObject *parts;
    if (!PyArg_ParseTuple(arguments, "O!:concat", &PyTuple_Type, &parts)) return NULL;
    size_t count = (size_t)PyTuple_Size(parts);
    recmap_dataset **datasets = calloc(count + 1, sizeof *datasets), *dataset = NULL;
    if (!datasets) return PyErr_NoMemory();
    recmap_error error = RECMAP_ERROR_INIT;
    int is_good = take_parts(datasets, type, parts) == 0;
    if (is_good && recmap_dataset_concat(&dataset, datasets, count, &error) != RECMAP_OK)
        is_good = raise_error_int(&error) == 0;
    free(datasets);
    if (!is_good) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    struct handle_object *handle = (struct handle_object *)allocate((PyTypeObject *)type, 0);
    if (!handle) {
        recmap_dataset_close(dataset);
        return NULL;
    }
    Py_INCREF(parts);
    handle->parts = parts;
    handle->dataset = dataset;
    return (PyObject *)handle;
}

/* schemes() -> {"s3://", ...}: the schemes of the shards' URLs. */
static PyObject *handle_schemes(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = (struct handle_object *)object;
    uint64_t count = recmap_dataset_get_info(handle->dataset)->shard_count;
    PyObject *schemes = PySet_New(NULL);
    for (uint64_t i = 0; schemes && i < count; i++) {
        recmap_shard_info info = {0};
        recmap_error error = RECMAP_ERROR_INIT;
        if (recmap_dataset_get_shard(&info, handle->dataset, i, &error) != RECMAP_OK) {
            Py_DECREF(schemes);
            return raise_error(&error);
        }
        const char *end = strstr(info.path, "://");
        if (!end || end == info.path) continue;
        PyObject *scheme = PyUnicode_DecodeFSDefaultAndSize(info.path, end + 3 - info.path);
        if (!scheme || PySet_Add(schemes, scheme)) Py_CLEAR(schemes);
        Py_XDECREF(scheme);
    }
    return schemes;
}

static PyMethodDef handle_methods[] = {
    {"schemes", handle_schemes, METH_NOARGS, NULL},
    {"concat", handle_concat, METH_VARARGS | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

static void handle_dealloc(PyObject *object) {
    struct handle_object *handle = (struct handle_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    while (handle->spare_count) recmap_batch_destroy(handle->spares[--handle->spare_count]);
    recmap_dataset_close(handle->dataset);
    Py_XDECREF(handle->parts);
    Py_XDECREF(handle->extraction);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyType_Slot handle_slots[] = {
    {Py_tp_new, handle_new},
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_methods, handle_methods},
    {Py_bf_getbuffer, view_get_buffer},
    {Py_tp_doc, "An open data set, which all of its views keep alive."},
    {0, NULL},
};

PyType_Spec handle_spec = {
    .name = "recmap._recmap.Handle",
    .basicsize = sizeof(struct handle_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = handle_slots,
};
