/* Batches as capsules of the Arrow PyCapsule interface, and columns as DLPack capsules. */
#include <recmap/arrow.h>
#include <recmap/dlpack.h>

#include <errno.h>
#include <stdlib.h>

#include "base/critical.h"
#include "base/errors.h"
#include "base/module.h"
#include "batch/batch.h"

/* ---- What keeps the records while exports view them. Releases come on any thread. */

static void release_object(void *owner) {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)owner);
    PyGILState_Release(state);
}

static void release_shared(void *owner) {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE state = PyGILState_Ensure();
    shared_batch_release(owner);
    PyGILState_Release(state);
}

/* Makes the shared batch the owner of the columns' memory. If the object owned it, the reference
 * would be circular. */
static void keep_records(struct shared_batch *shared, recmap_columns *columns) {
    if (shared->is_exported) return;
    shared->is_exported = 1;
    atomic_fetch_add(&shared->users, 1);
    recmap_columns_set_owner(columns, shared, release_shared);
}

static recmap_status export_columns(struct ArrowArray *array, struct ArrowSchema *schema,
                                    struct shared_batch *shared, long column, recmap_error *error) {
    recmap_columns *columns = recmap_batch_columns(shared->batch);
    keep_records(shared, columns);
    if (column < 0) return recmap_columns_export_arrow(array, schema, columns, error);
    return recmap_columns_export_arrow_column(array, schema, columns, (size_t)column, error);
}

/* column: an index; -1 for all columns as a struct, or for the records of an unparsed batch */
static recmap_status export_batch(struct ArrowArray *array, struct ArrowSchema *schema,
                                  PyObject *object, long column, recmap_error *error) {
    struct shared_batch *shared = ((struct batch_object *)object)->shared;
    if (!shared->parser) {
        Py_INCREF(object);
        return recmap_records_export_arrow(array, schema, recmap_batch_records(shared->batch),
                                           recmap_batch_count(shared->batch), object,
                                           release_object, error);
    }
    recmap_status status;
    Py_BEGIN_CRITICAL_SECTION(object);
    status = export_columns(array, schema, shared, column, error);
    Py_END_CRITICAL_SECTION();
    return status;
}

/* ---- Capsules: whoever takes the struct out of one sets its release to NULL. */

static void end_schema(PyObject *capsule) {
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release) schema->release(schema);
    free(schema);
}

static void end_array(PyObject *capsule) {
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release) array->release(array);
    free(array);
}

/* _arrow_array(column) -> (schema capsule, array capsule) */
PyObject *batch_arrow_array(PyObject *batch, PyObject *column_index) {
    long column = PyLong_AsLong(column_index);
    if (column == -1 && PyErr_Occurred()) return NULL;
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    struct ArrowArray *array = calloc(1, sizeof *array);
    PyObject *of_schema = schema ? PyCapsule_New(schema, "arrow_schema", end_schema) : NULL;
    PyObject *of_array = array ? PyCapsule_New(array, "arrow_array", end_array) : NULL;
    PyObject *pair = NULL;
    if (of_schema && of_array) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = export_batch(array, schema, batch, column, &error);
        pair = status == RECMAP_OK ? Py_BuildValue("(OO)", of_schema, of_array)
                                   : raise_error(&error);
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    if (!of_schema) free(schema);
    if (!of_array) free(array);
    Py_XDECREF(of_schema);
    Py_XDECREF(of_array);
    return pair;
}

/* ---- A stream of one batch. */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* The state of a stream: the batch until it was read, and the last error. */
struct stream_state {
    PyObject *batch;
    int is_over;
    recmap_error error;
};

static int stream_export(struct ArrowArrayStream *stream, struct ArrowArray *array,
                         struct ArrowSchema *schema) {
    struct stream_state *state = stream->private_data;
    PyGILState_STATE gil = PyGILState_Ensure();
    recmap_status status = export_batch(array, schema, state->batch, -1, &state->error);
    PyGILState_Release(gil);
    return status == RECMAP_OK ? 0 : ENOMEM;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    return stream_export(stream, NULL, out);
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct stream_state *state = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    if (state->is_over) return 0;
    state->is_over = 1;
    return stream_export(stream, out, NULL);
}

static const char *stream_error(struct ArrowArrayStream *stream) {
    return ((struct stream_state *)stream->private_data)->error.message;
}

static void stream_release(struct ArrowArrayStream *stream) {
    struct stream_state *state = stream->private_data;
    release_object(state->batch);
    free(state);
    stream->release = NULL;
}

static void end_stream(PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release) stream->release(stream);
    free(stream);
}

/* _arrow_stream() -> stream capsule */
PyObject *batch_arrow_stream(PyObject *batch, PyObject *unused) {
    (void)unused;
    struct stream_state *state = calloc(1, sizeof *state);
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    PyObject *capsule = state && stream ? PyCapsule_New(stream, "arrow_array_stream", end_stream)
                                        : NULL;
    if (!capsule) {
        free(state);
        free(stream);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    Py_INCREF(batch);
    state->batch = batch;
    *stream =
        (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, state};
    return capsule;
}

/* ---- DLPack. */

static void end_tensor(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    DLManagedTensor *tensor = PyCapsule_GetPointer(capsule, "dltensor");
    if (tensor->deleter) tensor->deleter(tensor);
}

static void end_versioned(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return;
    DLManagedTensorVersioned *tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (tensor->deleter) tensor->deleter(tensor);
}

static PyObject *tensor_capsule(recmap_columns *columns, size_t column, recmap_tensor kind,
                                size_t level) {
    DLManagedTensor *tensor;
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_columns_export_dlpack(&tensor, columns, column, kind, level, &error) != RECMAP_OK)
        return raise_error(&error);
    PyObject *capsule = PyCapsule_New(tensor, "dltensor", end_tensor);
    if (!capsule) tensor->deleter(tensor);
    return capsule;
}

static PyObject *versioned_capsule(recmap_columns *columns, size_t column, recmap_tensor kind,
                                   size_t level) {
    DLManagedTensorVersioned *tensor;
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_columns_export_dlpack_versioned(&tensor, columns, column, kind, level, &error) !=
        RECMAP_OK)
        return raise_error(&error);
    PyObject *capsule = PyCapsule_New(tensor, "dltensor_versioned", end_versioned);
    if (!capsule) tensor->deleter(tensor);
    return capsule;
}

/* _dlpack(column, what, level, is versioned) -> capsule */
PyObject *batch_dlpack(PyObject *batch, PyObject *arguments) {
    Py_ssize_t column, level;
    int what, is_versioned;
    if (!PyArg_ParseTuple(arguments, "ninp:_dlpack", &column, &what, &level, &is_versioned))
        return NULL;
    recmap_columns *columns = batch_columns((struct batch_object *)batch);
    if (!columns) return NULL;
    return (is_versioned ? versioned_capsule : tensor_capsule)(columns, (size_t)column,
                                                               (recmap_tensor)what, (size_t)level);
}
