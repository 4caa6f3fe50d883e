#include "dataset/dataset.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/critical.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/progress.h"
#include "base/signals.h"
#include "batch/batch.h"
#include "batch/parser.h"
#include "dataset/annotation.h"
#include "dataset/duplicates.h"
#include "dataset/selection.h"
#include "order/counts.h"
#include "order/order.h"

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
        return PyErr_Format(OutOfRangeError,
                            "record %zd is out of range: there are %" PRIu64 " records", index,
                            self->count);
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
    if (!PyIndex_Check(key)) return PyObject_CallMethod(object, "_view", "O", key);
    Py_ssize_t index = PyNumber_AsSsize_t(key, OutOfRangeError);
    if (index == -1 && PyErr_Occurred()) {
        /* NumPy arrays have __index__, but only those with one item can be converted. */
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
        PyErr_Clear();
        return PyObject_CallMethod(object, "_view", "O", key);
    }
    Py_ssize_t count = length(object);
    if (index < -count)
        return PyErr_Format(OutOfRangeError, "record %zd is out of range: there are %zd records",
                            index, count);
    return item(object, index < 0 ? index + count : index);
}

/* ---- Many records. */

/* _gather(numbers, threads) */
static PyObject *gather(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    unsigned threads;
    if (!PyArg_ParseTuple(arguments, "O&O&:_gather", take_array, &numbers, take_unsigned, &threads))
        return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    PyObject *batch = handle ? batch_gather(handle, numbers.data, numbers.count, NULL,
                                            RECMAP_PARSE_RAISE, threads)
                             : NULL;
    handle_release(handle);
    array_release(&numbers);
    return batch;
}

/* _parse(parser, numbers, collect, threads) */
static PyObject *parse(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    recmap_parser *parser;
    int collect;
    unsigned threads;
    if (!PyArg_ParseTuple(arguments, "O&O&pO&:_parse", take_parser, &parser, take_array, &numbers,
                          &collect, take_unsigned, &threads))
        return NULL;
    recmap_parse_mode mode = collect ? RECMAP_PARSE_COLLECT : RECMAP_PARSE_RAISE;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    PyObject *batch =
        handle ? batch_gather(handle, numbers.data, numbers.count, parser, mode, threads) : NULL;
    handle_release(handle);
    array_release(&numbers);
    return batch;
}

/* _rows(parser, order, epoch, positions) */
static PyObject *rows(PyObject *object, PyObject *arguments) {
    struct array_view positions = ARRAY_VIEW_INIT;
    recmap_parser *parser;
    PyObject *order;
    uint64_t epoch;
    if (!PyArg_ParseTuple(arguments, "O&O!O&O&:_rows", take_parser, &parser, order_type, &order,
                          take_uint64, &epoch, take_array, &positions))
        return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    PyObject *batch = handle ? batch_cut(handle, ((struct order_object *)order)->order, parser,
                                         epoch, positions.data, positions.count)
                             : NULL;
    handle_release(handle);
    array_release(&positions);
    return batch;
}

static PyObject *find(PyObject *object, PyObject *arguments) {
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

/* Most ids belong to few records, so a small buffer on the stack is tried first. The first call
 * also returns how many there are. */
static PyObject *find_all(PyObject *object, PyObject *arguments) {
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

/* ---- The index: tables into arrays that the caller made. */

/* _read_id_hashes(out): out is an array of uint64 with one item per record */
static PyObject *read_id_hashes(PyObject *object, PyObject *arguments) {
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

/* The types of values are the first element types, whose names are those of NumPy. */
static const char *dtype_name(recmap_type type) {
    _Static_assert((int)RECMAP_ELEMENT_INT64 == RECMAP_TYPE_INT64, "the types of values differ");
    _Static_assert((int)RECMAP_ELEMENT_FLOAT32 == RECMAP_TYPE_FLOAT, "the types of values differ");
    _Static_assert((int)RECMAP_ELEMENT_BYTES == RECMAP_TYPE_BYTES, "the types of values differ");
    return recmap_element_name((recmap_element)type);
}

/* [(name, type, default or None)] of all columns of the index. */
static PyObject *column_table(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    size_t count = recmap_dataset_get_info(handle->dataset)->lifted_column_count;
    PyObject *table = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; table && i < count; i++) {
        recmap_lifted_column info = {0};
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_dataset_get_lifted_column(&info, handle->dataset, i, &error);
        PyObject *row =
            status != RECMAP_OK
                ? raise_error(&error)
                : Py_BuildValue("(ssz)", info.name, dtype_name(info.type), info.default_value);
        if (!row) Py_CLEAR(table);
        else PyList_SetItem(table, (Py_ssize_t)i, row);
    }
    handle_release(handle);
    return table;
}

/* Names of the columns whose values did not come from the records, as far as the index knows. */
static PyObject *annotated_columns(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    size_t count = recmap_dataset_get_info(handle->dataset)->lifted_column_count;
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < count; i++) {
        recmap_lifted_column info = {0};
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_dataset_get_lifted_column(&info, handle->dataset, i, &error);
        if (status == RECMAP_OK && !info.is_annotated) continue;
        PyObject *name = status == RECMAP_OK ? PyUnicode_FromString(info.name)
                                             : raise_error(&error);
        if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

/* [(name, dtype or None)] of all counted features of the index. */
static PyObject *counted_table(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    size_t count = recmap_dataset_get_info(handle->dataset)->counted_feature_count;
    PyObject *table = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; table && i < count; i++) {
        recmap_counted_feature feature = {0};
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status =
            recmap_dataset_get_counted_feature(&feature, handle->dataset, i, &error);
        PyObject *row = status != RECMAP_OK ? raise_error(&error)
                                            : Py_BuildValue("(sz)", feature.name,
                                                            recmap_element_name(feature.element));
        if (!row) Py_CLEAR(table);
        else PyList_SetItem(table, (Py_ssize_t)i, row);
    }
    handle_release(handle);
    return table;
}

/* _read_counts(name) -> Counts */
static PyObject *read_counts(PyObject *object, PyObject *name) {
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    struct handle_object *handle = text ? dataset_handle((struct dataset_object *)object) : NULL;
    if (!handle) return NULL;
    recmap_counts *counts = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_dataset_read_counts(&counts, handle->dataset, text, &error);
    signals_stop(&check);
    handle_release(handle);
    return status == RECMAP_OK ? counts_wrap(counts) : raise_error(&error);
}

/* Reads numbers of a column into an array of their type. False with an exception set. */
static int read_column(struct handle_object *handle, unsigned long column, uint64_t first,
                       PyObject *out) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_lifted_column info = {0};
    recmap_status status = recmap_dataset_get_lifted_column(&info, handle->dataset, column, &error);
    struct array_view values = ARRAY_VIEW_INIT;
    int is_float = info.type == RECMAP_TYPE_FLOAT;
    if (status == RECMAP_OK &&
        !take_array_of(out, &values, is_float ? sizeof(float) : sizeof(int64_t), PyBUF_WRITABLE))
        return 0;
    struct signal_check check;
    signals_start(&check);
    if (status == RECMAP_OK)
        status = is_float ? recmap_dataset_read_float(values.data, handle->dataset, column, first,
                                                      values.count, &error)
                          : recmap_dataset_read_int64(values.data, handle->dataset, column, first,
                                                      values.count, &error);
    signals_stop(&check);
    array_release(&values);
    if (status != RECMAP_OK) raise_error(&error);
    return status == RECMAP_OK;
}

/* _read_numbers(column, first, out): out is int64 (8 bytes) or float32 (4 bytes), like the column.
 */
static PyObject *read_numbers(PyObject *object, PyObject *arguments) {
    unsigned long column;
    unsigned long long first;
    PyObject *out;
    if (!PyArg_ParseTuple(arguments, "kKO:_read_numbers", &column, &first, &out)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    int is_read = read_column(handle, column, first, out);
    handle_release(handle);
    if (!is_read) return NULL;
    Py_RETURN_NONE;
}

static PyObject *list_of_bytes(const recmap_value *values, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *value = PyBytes_FromStringAndSize((const char *)values[i].as.bytes.data,
                                                    (Py_ssize_t)values[i].as.bytes.size);
        if (!value) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, value);
    }
    return list;
}

/* _read_bytes(column, first, count) -> [bytes] */
static PyObject *read_bytes(PyObject *object, PyObject *arguments) {
    unsigned long column;
    unsigned long long first;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(arguments, "kKn:_read_bytes", &column, &first, &count)) return NULL;
    recmap_value *values = calloc((size_t)count + 1, sizeof *values);
    if (!values) return PyErr_NoMemory();
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) {
        free(values);
        return NULL;
    }
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status =
        recmap_dataset_read_bytes(values, handle->dataset, column, first, (size_t)count, &error);
    Py_END_ALLOW_THREADS
    PyObject *list = status == RECMAP_OK ? list_of_bytes(values, (size_t)count)
                                         : raise_error(&error);
    handle_release(handle);
    free(values);
    return list;
}

/* [(path, size, first record, records)] of all shards. */
static PyObject *shard_table(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    uint64_t count = recmap_dataset_get_info(handle->dataset)->shard_count;
    PyObject *table = PyList_New((Py_ssize_t)count);
    for (uint64_t i = 0; table && i < count; i++) {
        recmap_shard_info info = {0};
        recmap_error error = RECMAP_ERROR_INIT;
        PyObject *path = recmap_dataset_get_shard(&info, handle->dataset, i, &error) != RECMAP_OK
                             ? raise_error(&error)
                             : PyUnicode_DecodeFSDefault(info.path);
        PyObject *row = path ? Py_BuildValue("(NKKK)", path, (unsigned long long)info.size,
                                             (unsigned long long)info.first_record,
                                             (unsigned long long)info.record_count)
                             : NULL;
        if (!row) Py_CLEAR(table);
        else PyList_SetItem(table, (Py_ssize_t)i, row);
    }
    handle_release(handle);
    return table;
}

static PyObject *take_text(recmap_text *text, recmap_status status, const recmap_error *error) {
    PyObject *taken = status == RECMAP_OK
                          ? PyUnicode_DecodeUTF8(text->data ? text->data : "",
                                                 (Py_ssize_t)text->size, "surrogateescape")
                          : raise_error(error);
    recmap_text_deinit(text);
    return taken;
}

static PyObject *info_json(PyObject *object, PyObject *arguments) {
    int with_shards = 0;
    if (!PyArg_ParseTuple(arguments, "p:_info_json", &with_shards)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_dataset_info_to_json(&text, handle->dataset, with_shards, &error);
    Py_END_ALLOW_THREADS
    handle_release(handle);
    return take_text(&text, status, &error);
}

static PyObject *fingerprint(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    const recmap_fingerprint *print = &recmap_dataset_get_info(handle->dataset)->fingerprint;
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)print->bytes, sizeof print->bytes);
    handle_release(handle);
    return bytes;
}

static PyObject *id_name(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    PyObject *name = Py_BuildValue("z", recmap_dataset_get_info(handle->dataset)->id_name);
    handle_release(handle);
    return name;
}

static PyObject *record_count(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    uint64_t count = recmap_dataset_count(handle->dataset);
    handle_release(handle);
    return PyLong_FromUnsignedLongLong(count);
}

/* ---- Passes over data. */

/* _verify(index_only, threads, progress or None, memory limit or 0) -> JSON of the report */
static PyObject *verify(PyObject *object, PyObject *arguments) {
    struct progress_call progress = PROGRESS_CALL_INIT;
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "pO&OO&:_verify", &options.index_only, take_unsigned,
                          &options.thread_count, &progress.callable, take_uint64,
                          &options.memory_limit))
        return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    options.progress = progress_report;
    options.progress_context = &progress;
    recmap_report *report = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    progress.thread = PyEval_SaveThread();
    recmap_status status = recmap_dataset_verify(&report, handle->dataset, &options, &error);
    if (status == RECMAP_OK) status = recmap_report_to_json(&text, report, &error);
    recmap_report_destroy(report);
    PyEval_RestoreThread(progress.thread);
    handle_release(handle);
    return take_text(&text, status, &error);
}

static recmap_status add_group(recmap_schema *schema, struct handle_object *handle,
                               const uint64_t *numbers, size_t count, recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        recmap_record record;
        recmap_status status = recmap_dataset_get(&record, handle->dataset, numbers[i], error);
        if (status == RECMAP_OK) {
            status = recmap_schema_add(schema, record.data, record.size, error);
            recmap_record_release(&record);
        }
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

/* Adds records in groups, and handles signals between them. CANCELLED if a handler raised. */
static recmap_status add_records(recmap_schema *schema, struct handle_object *handle,
                                 const struct array_view *numbers, recmap_error *error) {
    enum { GROUP_SIZE = 256 };
    recmap_status status = RECMAP_OK;
    for (size_t first = 0; first < numbers->count && status == RECMAP_OK; first += GROUP_SIZE) {
        size_t left = numbers->count - first;
        struct signal_check check;
        signals_start(&check);
        status = add_group(schema, handle, (const uint64_t *)numbers->data + first,
                           left < GROUP_SIZE ? left : GROUP_SIZE, error);
        signals_stop(&check);
        if (status == RECMAP_OK && PyErr_CheckSignals() < 0) status = RECMAP_CANCELLED;
    }
    return status;
}

/* _schema(numbers) -> (JSON, number of records that are neither Example nor SequenceExample) */
static PyObject *schema(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "O&:_schema", take_array, &numbers)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) {
        array_release(&numbers);
        return NULL;
    }
    recmap_schema *result = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_schema_create(&result, &error);
    if (status == RECMAP_OK) status = add_records(result, handle, &numbers, &error);
    if (status == RECMAP_OK) status = recmap_schema_to_json(&text, result, &error);
    uint64_t other_count = status == RECMAP_OK ? recmap_schema_other_count(result) : 0;
    recmap_schema_destroy(result);
    handle_release(handle);
    array_release(&numbers);
    PyObject *json = take_text(&text, status, &error);
    return json ? Py_BuildValue("(NK)", json, (unsigned long long)other_count) : NULL;
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
    return PyBool_FromLong(!((struct dataset_object *)object)->handle);
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
                         "record %" PRIu64 " is out of range: there are %" PRIu64 " records",
                         numbers[i], record_count);
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
    {"_gather", gather, METH_VARARGS, NULL},
    {"_parse", parse, METH_VARARGS, NULL},
    {"_rows", rows, METH_VARARGS, NULL},
    {"_find", find, METH_VARARGS, NULL},
    {"_find_all", find_all, METH_VARARGS, NULL},
    {"_find_many", dataset_find_many, METH_VARARGS, NULL},
    {"_find_records", dataset_find_records, METH_VARARGS, NULL},
    {"_annotate", dataset_annotate, METH_VARARGS, NULL},
    {"_find_duplicates", dataset_find_duplicates, METH_VARARGS, NULL},
    {"_match", dataset_match, METH_VARARGS, NULL},
    {"_save_selection", dataset_save_selection, METH_VARARGS, NULL},
    {"_read_selection", dataset_read_selection, METH_O, NULL},
    {"_read_id_hashes", read_id_hashes, METH_VARARGS, NULL},
    {"_column_table", column_table, METH_NOARGS, NULL},
    {"_annotated_columns", annotated_columns, METH_NOARGS, NULL},
    {"_counted_table", counted_table, METH_NOARGS, NULL},
    {"_read_counts", read_counts, METH_O, NULL},
    {"_read_numbers", read_numbers, METH_VARARGS, NULL},
    {"_read_bytes", read_bytes, METH_VARARGS, NULL},
    {"_shard_table", shard_table, METH_NOARGS, NULL},
    {"_info_json", info_json, METH_VARARGS, NULL},
    {"_fingerprint", fingerprint, METH_NOARGS, NULL},
    {"_id_name", id_name, METH_NOARGS, NULL},
    {"_record_count", record_count, METH_NOARGS, NULL},
    {"_verify", verify, METH_VARARGS, NULL},
    {"_schema", schema, METH_VARARGS, NULL},
    {"_use_handle", use_handle, METH_O, NULL},
    {"_close", close_dataset, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"_handle", get_handle, NULL, NULL, NULL},
    {"_range", get_range, NULL, NULL, NULL},
    {"closed", get_closed, NULL, "Whether close() was called.", NULL},
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
