#include "dataset/annotation.h"

#include <stdlib.h>
#include <string.h>

#include <recmap/annotation.h>

#include "base/errors.h"
#include "base/items.h"
#include "base/progress.h"
#include "dataset/dataset.h"

enum { GROUP_SIZE = 1 << 19 };

/* The annotation, and the error of the last call. */
struct annotate_call {
    recmap_annotation *annotation;
    struct progress_call progress;
    recmap_status status;
    recmap_error error;
};

/* Rows that are added to a column: keys and their values, and keys whose value is missing. */
struct new_rows {
    struct items keys, values, missing;
};

/* Keys and values of a group of rows. */
struct row_group {
    recmap_value *keys, *values;
};

/* The value of row `i`, which is missing if `values` is NULL. */
static int value_at(recmap_value *value, const struct items *values, size_t i) {
    if (values) return item_at(value, values, i);
    *value = (recmap_value){.type = RECMAP_TYPE_NONE};
    return 1;
}

/* Adds rows in groups. Other threads run while a group is looked up. */
static int add_groups(struct annotate_call *call, recmap_key key, const struct items *keys,
                      const struct items *values, struct row_group *group, size_t capacity) {
    for (size_t first = 0; first < keys->count; first += capacity) {
        size_t left = keys->count - first, count = left < capacity ? left : capacity;
        for (size_t i = 0; i < count; i++)
            if (!item_at(&group->keys[i], keys, first + i) ||
                !value_at(&group->values[i], values, first + i))
                return 0;
        call->progress.thread = PyEval_SaveThread();
        call->status = recmap_annotation_add_rows(call->annotation, key, group->keys, group->values,
                                                  count, &call->error);
        PyEval_RestoreThread(call->progress.thread);
        if (call->status != RECMAP_OK) return 0;
    }
    return 1;
}

static int add_items(struct annotate_call *call, recmap_key key, const struct items *keys,
                     const struct items *values) {
    size_t capacity = keys->count < GROUP_SIZE ? keys->count + 1 : GROUP_SIZE;
    struct row_group group = {malloc(capacity * sizeof *group.keys),
                              malloc(capacity * sizeof *group.values)};
    int added = group.keys && group.values;
    if (added) added = add_groups(call, key, keys, values, &group, capacity);
    else PyErr_NoMemory();
    free(group.keys);
    free(group.values);
    return added;
}

static int take_rows(struct new_rows *rows, PyObject *keys, PyObject *values, recmap_type type,
                     PyObject *missing) {
    if (!take_items(&rows->keys, keys, RECMAP_TYPE_INT64) ||
        !take_items(&rows->values, values, type) ||
        !take_items(&rows->missing, missing, RECMAP_TYPE_INT64))
        return 0;
    if (rows->keys.count == rows->values.count) return 1;
    PyErr_SetString(PyExc_ValueError, "there must be one value for each key");
    return 0;
}

static void release_rows(struct new_rows *rows) {
    items_release(&rows->keys);
    items_release(&rows->values);
    items_release(&rows->missing);
}

static int add_rows(struct annotate_call *call, PyObject *change) {
    const char *kind, *name, *default_value;
    int key, type, added = 0;
    PyObject *keys, *values, *missing;
    if (!PyArg_ParseTuple(change, "ssziiOOO:rows", &kind, &name, &default_value, &key, &type, &keys,
                          &values, &missing))
        return 0;
    struct new_rows rows = {
        {.array = ARRAY_VIEW_INIT}, {.array = ARRAY_VIEW_INIT}, {.array = ARRAY_VIEW_INIT}};
    if (take_rows(&rows, keys, values, (recmap_type)type, missing)) {
        call->status = recmap_annotation_add_column(call->annotation, name, (recmap_type)type,
                                                    default_value, &call->error);
        added = call->status == RECMAP_OK &&
                add_items(call, (recmap_key)key, &rows.keys, &rows.values) &&
                add_items(call, (recmap_key)key, &rows.missing, NULL);
    }
    release_rows(&rows);
    return added;
}

static int add_file(struct annotate_call *call, PyObject *change) {
    const char *kind, *name, *default_value;
    int key;
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(change, "ssziO&:file", &kind, &name, &default_value, &key, take_path,
                          &path))
        return 0;
    const char *text = PyBytes_AsString(path);
    call->progress.thread = PyEval_SaveThread();
    call->status = recmap_annotation_add_file(call->annotation, name, text, (recmap_key)key,
                                              default_value, &call->error);
    PyEval_RestoreThread(call->progress.thread);
    Py_DECREF(path);
    return call->status == RECMAP_OK;
}

static int add_lift(struct annotate_call *call, PyObject *change) {
    const char *kind;
    recmap_lift lift;
    if (!PyArg_ParseTuple(change, "sszp:lift", &kind, &lift.name, &lift.default_value,
                          &lift.is_nullable))
        return 0;
    call->progress.thread = PyEval_SaveThread();
    call->status = recmap_annotation_lift(call->annotation, &lift, &call->error);
    PyEval_RestoreThread(call->progress.thread);
    return call->status == RECMAP_OK;
}

/* False with an exception set, or with the status of an error. */
static int apply(struct annotate_call *call, PyObject *change) {
    const char *kind, *name, *new_name = NULL;
    PyObject *first = PyTuple_GetItem(change, 0);
    kind = first ? PyUnicode_AsUTF8AndSize(first, NULL) : NULL;
    if (!kind) return 0;
    if (!strcmp(kind, "rows")) return add_rows(call, change);
    if (!strcmp(kind, "file")) return add_file(call, change);
    if (!strcmp(kind, "lift")) return add_lift(call, change);
    if (!PyArg_ParseTuple(change, "ss|s:change", &kind, &name, &new_name)) return 0;
    call->status = new_name
                       ? recmap_annotation_rename(call->annotation, name, new_name, &call->error)
                       : recmap_annotation_drop(call->annotation, name, &call->error);
    return call->status == RECMAP_OK;
}

static int apply_all(struct annotate_call *call, PyObject *changes, int is_nullable,
                     int ignores_unmatched, recmap_dataset *dataset) {
    recmap_annotation_options options = RECMAP_ANNOTATION_OPTIONS_INIT;
    options.progress = progress_report;
    options.progress_context = &call->progress;
    call->progress.thread = PyEval_SaveThread();
    call->status = recmap_annotation_create(&call->annotation, dataset, &options, &call->error);
    PyEval_RestoreThread(call->progress.thread);
    if (call->status != RECMAP_OK) return 0;
    recmap_annotation_set_nullable(call->annotation, is_nullable);
    recmap_annotation_ignore_unmatched(call->annotation, ignores_unmatched);
    for (Py_ssize_t i = 0; i < PyList_Size(changes); i++) {
        PyObject *change = PySequence_GetItem(changes, i);
        int is_applied = change && apply(call, change);
        Py_XDECREF(change);
        if (!is_applied) return 0;
    }
    call->progress.thread = PyEval_SaveThread();
    call->status = recmap_annotation_finish(call->annotation, &call->error);
    PyEval_RestoreThread(call->progress.thread);
    return call->status == RECMAP_OK;
}

/* The warnings about the new columns, as a list of exceptions that are not raised. */
static PyObject *warnings_of(const recmap_annotation *annotation) {
    const recmap_error *warning;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (warning = recmap_annotation_warning(annotation, i)); i++) {
        PyObject *exception = exception_of_error(warning);
        if (!exception || PyList_Append(list, exception) < 0) Py_CLEAR(list);
        Py_XDECREF(exception);
    }
    return list;
}

/* The warnings, and the number of rows whose key no record has. */
static PyObject *result_of(const recmap_annotation *annotation) {
    PyObject *warnings = warnings_of(annotation);
    unsigned long long count = recmap_annotation_unmatched_count(annotation);
    return warnings ? Py_BuildValue("NK", warnings, count) : NULL;
}

PyObject *dataset_annotate(PyObject *object, PyObject *arguments) {
    struct annotate_call call = {.progress = PROGRESS_CALL_INIT, .error = RECMAP_ERROR_INIT};
    PyObject *changes;
    int is_nullable, ignores_unmatched;
    if (!PyArg_ParseTuple(arguments, "O!Opp:_annotate", &PyList_Type, &changes,
                          &call.progress.callable, &is_nullable, &ignores_unmatched))
        return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    int is_done = apply_all(&call, changes, is_nullable, ignores_unmatched, handle->dataset);
    PyObject *result = is_done ? result_of(call.annotation) : NULL;
    PyThreadState *thread = PyEval_SaveThread();
    recmap_annotation_destroy(call.annotation);
    PyEval_RestoreThread(thread);
    handle_release(handle);
    if (is_done) return result;
    return call.status != RECMAP_OK ? raise_error(&call.error) : NULL;
}
