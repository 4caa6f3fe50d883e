/* Clients: Python objects that read the objects of a storage, for filesystems of other packages.
 *
 * The library calls a client on any thread, its own among them, so each call takes the GIL. At exit
 * the interpreter ends threads that ask for the GIL, wherever they are. clients_stop prevents that:
 * it lets no further call begin, and waits for those that have begun. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/signals.h"
#include "index/storage.h"

static atomic_int call_count;
static atomic_bool is_stopping;
static _Thread_local int is_python_thread; /* rather than one of the library's */

static recmap_status refuse(recmap_error *error) {
    if (!error) return RECMAP_CANCELLED;
    *error = (recmap_error)RECMAP_ERROR_INIT;
    error->status = RECMAP_CANCELLED;
    snprintf(error->message, sizeof error->message,
             "the filesystem cannot be used: the interpreter is exiting");
    return RECMAP_CANCELLED;
}

/* Takes the GIL. Returns false with `error` set if no call may begin any more. */
static int start_call(PyGILState_STATE *state, recmap_error *error) {
    atomic_fetch_add(&call_count, 1);
    if (atomic_load(&is_stopping)) {
        atomic_fetch_sub(&call_count, 1);
        refuse(error);
        return 0;
    }
    is_python_thread = PyGILState_GetThisThreadState() != NULL;
    *state = PyGILState_Ensure();
    return 1;
}

static void stop_call(PyGILState_STATE state) {
    PyGILState_Release(state);
    atomic_fetch_sub(&call_count, 1);
}

static void pause_call(void) {
    Py_BEGIN_ALLOW_THREADS
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    Py_END_ALLOW_THREADS
}

/* clients_stop(), called at exit. Ctrl-C ends the wait. */
PyObject *clients_stop(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    atomic_store(&is_stopping, 1);
    while (atomic_load(&call_count) > 0) {
        pause_call();
        if (PyErr_CheckSignals() < 0) return NULL;
    }
    Py_RETURN_NONE;
}

/* clients_start(), called in a forked child, where the calls of other threads no longer exist */
PyObject *clients_start(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    atomic_store(&call_count, 0);
    atomic_store(&is_stopping, 0);
    Py_RETURN_NONE;
}

/* ---- Errors. */

static int errno_of(PyObject *exception) {
    if (PyErr_GivenExceptionMatches(exception, PyExc_FileNotFoundError)) return ENOENT;
    if (PyErr_GivenExceptionMatches(exception, PyExc_PermissionError)) return EACCES;
    return EIO;
}

/* Writes "TYPE: first line of the text". */
static void describe(recmap_error *error, PyObject *exception) {
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(exception), "__name__");
    PyObject *text = PyObject_Str(exception);
    PyObject *type_bytes = type ? PyUnicode_AsEncodedString(type, "utf-8", "replace") : NULL;
    PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
    const char *name = type_bytes ? PyBytes_AsString(type_bytes) : NULL;
    const char *line = bytes ? PyBytes_AsString(bytes) : NULL;
    PyErr_Clear();
    snprintf(error->message, sizeof error->message, "the filesystem failed: %s: %.*s",
             name ? name : "an exception", line ? (int)strcspn(line, "\n") : 0, line ? line : "");
    Py_XDECREF(type);
    Py_XDECREF(text);
    Py_XDECREF(type_bytes);
    Py_XDECREF(bytes);
}

static void advise(recmap_error *error, const char *advice) {
    snprintf(error->advice, sizeof error->advice, "%s", advice);
}

static int is_interrupt(void) {
    return PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) ||
           PyErr_ExceptionMatches(PyExc_SystemExit);
}

/* An interrupt stays set if this thread's call of the library returns it to Python. If it cannot,
 * the interrupt is repeated once that call has returned. Every other exception becomes an error of
 * the library, which has a place. */
static recmap_status take_exception(recmap_error *error) {
    recmap_error local;
    if (!error) error = &local;
    if (is_interrupt() && signals_note_exception()) {
        *error = (recmap_error)RECMAP_ERROR_INIT;
        return error->status = RECMAP_CANCELLED;
    }
    if (is_interrupt() && is_python_thread) PyErr_SetInterrupt();
    PyObject *type, *exception, *traceback;
    PyErr_Fetch(&type, &exception, &traceback);
    PyErr_NormalizeException(&type, &exception, &traceback);
    *error = (recmap_error)RECMAP_ERROR_INIT;
    error->status = RECMAP_IO;
    error->system_errno = errno_of(exception);
    describe(error, exception);
    advise(error, "check that the filesystem passed as fs= can read this file");
    Py_XDECREF(type);
    Py_XDECREF(exception);
    Py_XDECREF(traceback);
    return RECMAP_IO;
}

/* ---- The functions of a client. */

static recmap_status stat_object(recmap_object *object, const char *name, recmap_error *error,
                                 void *client) {
    PyGILState_STATE state;
    if (!start_call(&state, error)) return RECMAP_CANCELLED;
    PyObject *reply = PyErr_Occurred() ? NULL : PyObject_CallMethod(client, "stat", "s", name);
    uint64_t size;
    long long mtime_ns;
    const char *etag;
    recmap_status status = RECMAP_OK;
    if (reply && PyArg_ParseTuple(reply, "O&Ls:stat", take_uint64, &size, &mtime_ns, &etag)) {
        *object = (recmap_object){.size = size, .mtime_ns = mtime_ns};
        if (strlen(etag) < sizeof object->etag) memcpy(object->etag, etag, strlen(etag) + 1);
    } else {
        status = take_exception(error);
    }
    Py_XDECREF(reply);
    stop_call(state);
    return status;
}

/* [(name, offset, size)] */
static PyObject *list_ranges(const recmap_object_range *ranges, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *row = Py_BuildValue("sKK", ranges[i].name, (unsigned long long)ranges[i].offset,
                                      (unsigned long long)ranges[i].size);
        if (row) PyList_SetItem(list, (Py_ssize_t)i, row);
        else Py_CLEAR(list);
    }
    return list;
}

/* Copies the bytes that were read, which may be more or fewer than was asked for, or an exception.
 */
static recmap_status take_bytes(const recmap_object_range *range, PyObject *bytes,
                                recmap_error *error) {
    Py_buffer view;
    if (PyObject_IsInstance(bytes, PyExc_BaseException) == 1) {
        PyErr_SetObject((PyObject *)Py_TYPE(bytes), bytes);
        return take_exception(error);
    }
    if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0) return take_exception(error);
    size_t size = (size_t)view.len;
    if (size == range->size) memcpy(range->data, view.buf, size);
    PyBuffer_Release(&view);
    if (size == range->size) return RECMAP_OK;
    if (!error) return RECMAP_IO;
    *error = (recmap_error)RECMAP_ERROR_INIT;
    error->status = RECMAP_IO;
    error->system_errno = EIO;
    snprintf(error->message, sizeof error->message,
             "the filesystem returned %zu byte%s instead of %zu", size, size == 1 ? "" : "s",
             range->size);
    advise(error, "the file may have been cut while it was read: restore it, or index it again");
    return RECMAP_IO;
}

static recmap_status take_replies(size_t *failed_index, PyObject *replies,
                                  const recmap_object_range *ranges, size_t count,
                                  recmap_error *error) {
    if (!replies) return take_exception(error);
    if (PySequence_Size(replies) != (Py_ssize_t)count) {
        PyErr_SetString(PyExc_ValueError, "it did not return one result for each range");
        return take_exception(error);
    }
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
        PyObject *bytes = PySequence_GetItem(replies, (Py_ssize_t)i);
        *failed_index = i;
        status = bytes ? take_bytes(&ranges[i], bytes, error) : take_exception(error);
        Py_XDECREF(bytes);
    }
    return status;
}

static recmap_status read_objects(size_t *failed_index, const recmap_object_range *ranges,
                                  size_t count, recmap_error *error, void *client) {
    PyGILState_STATE state;
    if (!start_call(&state, error)) return RECMAP_CANCELLED;
    PyObject *list = PyErr_Occurred() ? NULL : list_ranges(ranges, count);
    PyObject *replies = list ? PyObject_CallMethod(client, "read", "O", list) : NULL;
    recmap_status status = take_replies(failed_index, replies, ranges, count, error);
    Py_XDECREF(replies);
    Py_XDECREF(list);
    stop_call(state);
    return status;
}

typedef recmap_status (*add_name_fn)(const char *name, recmap_error *error, void *names);

static recmap_status add_names(PyObject *list, add_name_fn add, void *names, recmap_error *error) {
    Py_ssize_t count = PySequence_Size(list);
    recmap_status status = count < 0 ? take_exception(error) : RECMAP_OK;
    for (Py_ssize_t i = 0; status == RECMAP_OK && i < count; i++) {
        PyObject *name = PySequence_GetItem(list, i);
        PyObject *bytes = name ? PyUnicode_EncodeFSDefault(name) : NULL;
        status = bytes ? add(PyBytes_AsString(bytes), error, names) : take_exception(error);
        Py_XDECREF(name);
        Py_XDECREF(bytes);
    }
    return status;
}

static recmap_status list_objects(const char *folder, int is_deep, add_name_fn add, void *names,
                                  recmap_error *error, void *client) {
    PyGILState_STATE state;
    if (!start_call(&state, error)) return RECMAP_CANCELLED;
    PyObject *list = PyErr_Occurred() ? NULL
                                      : PyObject_CallMethod(client, "find", "si", folder, is_deep);
    recmap_status status = list ? add_names(list, add, names, error) : take_exception(error);
    Py_XDECREF(list);
    stop_call(state);
    return status;
}

/* At exit, the object is left to the end of the process. */
static void close_client(void *client) {
    PyGILState_STATE state;
    recmap_error error;
    if (!start_call(&state, &error)) return;
    Py_DECREF((PyObject *)client);
    stop_call(state);
}

/* storage_set_client(capsule, client). The client has the methods
 *     stat(name) -> (size, time in ns since 1970 or 0, ETag or "")
 *     read([(name, offset, size)]) -> one bytes-like object or exception for each
 *     find(folder, is_deep) -> [name] */
PyObject *storage_set_client(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_storage *storage = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_client client = RECMAP_CLIENT_INIT;
    PyObject *object;
    if (!PyArg_ParseTuple(arguments, "O&O:storage_set_client", take_storage, &storage, &object))
        return NULL;
    Py_INCREF(object);
    client.context = object;
    client.stat = stat_object;
    client.read = read_objects;
    client.list = list_objects;
    client.close = close_client;
    if (recmap_storage_set_client(storage, &client, &error) != RECMAP_OK)
        return raise_error(&error);
    Py_RETURN_NONE;
}
