/* What a loader says about its work: statistics, what it waits for, skipped records, requests. */
#include "base/errors.h"
#include "base/signals.h"
#include "loader/loader.h"

PyObject *loader_estimate_requests(PyObject *object, PyObject *unused) {
    (void)unused;
    struct loader_object *self = (struct loader_object *)object;
    recmap_request_estimate found;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    if (loader_check_fork(self, &error) != RECMAP_OK) return raise_error(&error);
    loader_lock(self);
    signals_start(&check);
    status = recmap_loader_estimate_requests(&found, self->loader, &error);
    signals_stop(&check);
    loader_unlock(self);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("{sKsKsKsN}", "requests", (unsigned long long)found.request_count, "bytes",
                         (unsigned long long)found.byte_count, "used_bytes",
                         (unsigned long long)found.used_byte_count, "exact",
                         PyBool_FromLong(found.is_exact));
}

/* Adds what the storage of the data set has requested. */
static PyObject *add_storage_statistics(PyObject *dict, const recmap_dataset *dataset) {
    recmap_storage_statistics found = recmap_dataset_storage_statistics(dataset);
    PyObject *added = Py_BuildValue(
        "{sKsKsKsKsKsKsKsK}", "requests", (unsigned long long)found.request_count, "retries",
        (unsigned long long)found.retry_count, "hedges", (unsigned long long)found.hedge_count,
        "requested_bytes", (unsigned long long)found.byte_count, "used_bytes",
        (unsigned long long)found.used_byte_count, "latency_p50_ns",
        (unsigned long long)found.latency_p50_ns, "latency_p99_ns",
        (unsigned long long)found.latency_p99_ns, "gap", (unsigned long long)found.gap);
    int failed = !dict || !added || PyDict_Update(dict, added) != 0;
    Py_XDECREF(added);
    if (failed) Py_CLEAR(dict);
    return dict;
}

/* From the first step that was asked for until the latest one was delivered. */
static unsigned long long run_ns(const struct loader_object *self) {
    return self->delivered_ns > self->begun_ns ? self->delivered_ns - self->begun_ns : 0;
}

PyObject *loader_statistics(PyObject *object, PyObject *unused) {
    (void)unused;
    const struct loader_object *self = (struct loader_object *)object;
    recmap_loader_statistics found;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_loader_get_statistics(&found, self->loader, &error);
    if (status != RECMAP_OK) return raise_error(&error);
    const recmap_dataset *dataset = self->handle->dataset;
    recmap_cache_statistics cache = recmap_dataset_cache_statistics(dataset);
    recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
    PyObject *dict = Py_BuildValue(
        "{sKsKsKsKsKsKsKsKsKsKsKsKsKsKsKsKsKsKsIsIsIsKsKsK}", "batches",
        (unsigned long long)found.batch_count, "fill_ns", (unsigned long long)found.fill_ns,
        "parse_ns", (unsigned long long)found.parse_ns, "decode_ns",
        (unsigned long long)found.decode_ns, "decoded_count",
        (unsigned long long)found.decoded_count, "decode_failed_count",
        (unsigned long long)found.decode_failed_count, "decode_warning_count",
        (unsigned long long)found.decode_warning_count, "cache_hits",
        (unsigned long long)cache.hit_count, "cache_misses", (unsigned long long)cache.miss_count,
        "span_hits", (unsigned long long)spans.hit_count, "spans_inflated",
        (unsigned long long)spans.inflate_count, "records", (unsigned long long)found.record_count,
        "bytes", (unsigned long long)found.byte_count, "caller_wait_ns",
        (unsigned long long)found.caller_wait_ns, "worker_wait_ns",
        (unsigned long long)found.worker_wait_ns, "skipped",
        (unsigned long long)found.skipped_count, "readahead",
        (unsigned long long)found.readahead_count, "readahead_records",
        (unsigned long long)found.readahead_distance, "threads", found.thread_count,
        "batches_ready", found.batches_ready, "warm_state", (unsigned)found.warm_state,
        "warmed_bytes", (unsigned long long)found.warm_read_size, "warm_bytes",
        (unsigned long long)found.warm_present_size, "run_ns", run_ns(self));
    return add_storage_statistics(dict, dataset);
}

static PyObject *next_step(struct loader_object *self) {
    if (self->next_step == RECMAP_NO_STEP) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(self->next_step);
}

/* Asks without the lock, which a thread that waits for a step holds.
 * why() -> (cause, work, nanoseconds that callers have waited, or 0, next step or None,
 * threads, batches begun, batches ready, times in nanoseconds by cause, pending or None); pending:
 * (name, first byte, last byte, attempt, nanoseconds, error) */
PyObject *loader_why(PyObject *object, PyObject *unused) {
    (void)unused;
    struct loader_object *self = (struct loader_object *)object;
    recmap_why found;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_loader_why(&found, self->loader, &error);
    Py_END_ALLOW_THREADS
    if (status != RECMAP_OK) return raise_error(&error);
    PyObject *times = PyList_New(RECMAP_CAUSES), *pending = Py_NewRef(Py_None);
    for (Py_ssize_t i = 0; times && i < RECMAP_CAUSES; i++) {
        PyObject *ns = PyLong_FromUnsignedLongLong(found.cause_ns[i]);
        if (!ns || PyList_SetItem(times, i, ns) < 0) Py_CLEAR(times);
    }
    if (found.has_pending) {
        Py_DECREF(pending);
        pending = Py_BuildValue(
            "(NKKIKN)", PyUnicode_DecodeFSDefault(found.name), (unsigned long long)found.first_byte,
            (unsigned long long)found.last_byte, found.attempt,
            (unsigned long long)found.pending_ns, PyUnicode_DecodeFSDefault(found.last_error));
    }
    if (times && pending)
        return Py_BuildValue("(iiKNIIINN)", (int)found.cause, (int)found.work,
                             (unsigned long long)loader_waited_ns(self), next_step(self),
                             found.thread_count, found.batches_begun, found.batches_ready, times,
                             pending);
    Py_XDECREF(times);
    Py_XDECREF(pending);
    return NULL;
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
PyObject *loader_skipped(PyObject *object, PyObject *unused) {
    (void)unused;
    enum { AT_ONCE = 64 };
    PyObject *list = PyList_New(0);
    recmap_skipped some[AT_ONCE];
    size_t count = AT_ONCE;
    for (size_t first = 0; list && count == AT_ONCE; first += count) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_loader_get_skipped(
            some, AT_ONCE, &count, ((struct loader_object *)object)->loader, first, &error);
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
