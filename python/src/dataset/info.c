#include "dataset/info.h"

#include <stdbool.h>
#include <string.h>

#include "base/errors.h"
#include "base/text.h"
#include "dataset/dataset.h"

PyObject *dataset_shard_table(PyObject *object, PyObject *unused) {
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
        PyObject *row = path ? Py_BuildValue("(NKKK)", path,
                                             (unsigned long long)(info.first_byte + info.size),
                                             (unsigned long long)info.first_record,
                                             (unsigned long long)info.record_count)
                             : NULL;
        if (!row) Py_CLEAR(table);
        else PyList_SetItem(table, (Py_ssize_t)i, row);
    }
    handle_release(handle);
    return table;
}

PyObject *dataset_info_json(PyObject *object, PyObject *arguments) {
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
    return text_take(&text, status, &error);
}

PyObject *dataset_missing_shards(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    recmap_missing_shards missing;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_dataset_find_missing_shards(&missing, handle->dataset, &error);
    Py_END_ALLOW_THREADS
    handle_release(handle);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue(
        "(KNKN)", (unsigned long long)missing.count, PyUnicode_DecodeFSDefault(missing.first),
        (unsigned long long)missing.surplus_count, PyUnicode_DecodeFSDefault(missing.surplus));
}

PyObject *dataset_fingerprint(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    const recmap_fingerprint *print = &recmap_dataset_get_info(handle->dataset)->fingerprint;
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)print->bytes, sizeof print->bytes);
    handle_release(handle);
    return bytes;
}

PyObject *dataset_begins_with_fingerprint(PyObject *object, PyObject *arguments) {
    const char *bytes;
    Py_ssize_t size;
    unsigned long long count;
    recmap_fingerprint print;
    if (!PyArg_ParseTuple(arguments, "y#K:_begins_with", &bytes, &size, &count)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    bool begins = size == sizeof print.bytes;
    if (begins) {
        memcpy(print.bytes, bytes, sizeof print.bytes);
        begins = recmap_dataset_begins_with(handle->dataset, &print, count);
    }
    handle_release(handle);
    return PyBool_FromLong(begins);
}

PyObject *dataset_id_name(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    PyObject *name = Py_BuildValue("z", recmap_dataset_get_info(handle->dataset)->id_name);
    handle_release(handle);
    return name;
}

/* The row that names the fields of CSV files, and the file that has it; or None. */
PyObject *dataset_header(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    size_t size;
    char path[4096];
    recmap_error error = RECMAP_ERROR_INIT;
    const char *header = recmap_dataset_header(&size, handle->dataset);
    if (header &&
        recmap_dataset_shard_path(path, sizeof path, handle->dataset, 0, &error) != RECMAP_OK)
        path[0] = 0; /* too long to name */
    PyObject *pair = header ? Py_BuildValue("(y#y)", header, (Py_ssize_t)size, path)
                            : Py_NewRef(Py_None);
    handle_release(handle);
    return pair;
}

PyObject *dataset_record_count(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    uint64_t count = recmap_dataset_count(handle->dataset);
    handle_release(handle);
    return PyLong_FromUnsignedLongLong(count);
}
