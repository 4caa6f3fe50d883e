#include "index/storage.h"

#include <recmap/storage.h>

#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "base/module.h"
#include "base/signals.h"

static const char capsule_name[] = "recmap.storage";

static void release(PyObject *capsule) {
    recmap_storage_release(PyCapsule_GetPointer(capsule, capsule_name));
}

/* Takes over the caller's reference to the storage. */
static PyObject *create_capsule(recmap_storage *storage) {
    PyObject *capsule = PyCapsule_New(storage, capsule_name, release);
    if (!capsule) recmap_storage_release(storage);
    return capsule;
}

int take_storage(PyObject *object, void *storage) {
    if (object == Py_None) return 1;
    recmap_storage *pointer = PyCapsule_GetPointer(object, capsule_name);
    if (pointer) *(recmap_storage **)storage = pointer;
    return pointer != NULL;
}

static int set_options(recmap_storage *storage, PyObject *pairs, recmap_status *status,
                       recmap_error *error) {
    Py_ssize_t count = PySequence_Size(pairs);
    for (Py_ssize_t i = 0; i < count && *status == RECMAP_OK; i++) {
        PyObject *pair = PySequence_GetItem(pairs, i);
        const char *name, *value;
        int taken = pair && PyArg_ParseTuple(pair, "ss", &name, &value);
        if (taken) *status = recmap_storage_set(storage, name, value, error);
        Py_XDECREF(pair);
        if (!taken) return 0;
    }
    return count >= 0;
}

/* storage_renew(capsule, key, secret, token, sas), each a text or None */
PyObject *storage_renew(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_storage *storage = NULL;
    recmap_credentials credentials;
    recmap_error error = RECMAP_ERROR_INIT;
    if (!PyArg_ParseTuple(arguments, "O&zzzz:storage_renew", take_storage, &storage,
                          &credentials.key, &credentials.secret, &credentials.token,
                          &credentials.sas))
        return NULL;
    if (recmap_storage_renew(storage, &credentials, &error) != RECMAP_OK)
        return raise_error(&error);
    Py_RETURN_NONE;
}

/* storage_add_url(capsule, URL with a query) */
PyObject *storage_add_url(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_storage *storage = NULL;
    const char *url;
    recmap_error error = RECMAP_ERROR_INIT;
    if (!PyArg_ParseTuple(arguments, "O&s:storage_add_url", take_storage, &storage, &url))
        return NULL;
    if (recmap_storage_add_url(storage, url, &error) != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

/* storage_is_used(capsule) -> bool */
PyObject *storage_is_used(PyObject *module, PyObject *capsule) {
    (void)module;
    recmap_storage *storage = NULL;
    if (!take_storage(capsule, &storage)) return NULL;
    return PyBool_FromLong(recmap_storage_is_used(storage));
}

/* storage_share(capsule) -> another capsule that keeps the same storage */
PyObject *storage_share(PyObject *module, PyObject *capsule) {
    (void)module;
    recmap_storage *storage = PyCapsule_GetPointer(capsule, capsule_name);
    if (!storage) return NULL;
    return create_capsule(recmap_storage_retain(storage));
}

/* storage_create([(name, value)]) -> capsule */
PyObject *storage_create(PyObject *module, PyObject *pairs) {
    (void)module;
    recmap_storage *storage = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_storage_create(&storage, &error);
    int is_taken = status == RECMAP_OK && set_options(storage, pairs, &status, &error);
    if (status != RECMAP_OK) raise_error(&error);
    if (status == RECMAP_OK && is_taken) return create_capsule(storage);
    recmap_storage_release(storage);
    return NULL;
}

/* What a call gave without the GIL: the bytes of an object, or names, each with a zero byte. */
struct taken {
    char *bytes;
    size_t size;
    size_t capacity;
};

static recmap_status take_bytes(const void *data, size_t size, recmap_error *error, void *context) {
    struct taken *taken = context;
    if (size > taken->capacity - taken->size) {
        size_t capacity = (taken->size + size) * 2;
        char *bytes = realloc(taken->bytes, capacity);
        if (!bytes) {
            error->status = RECMAP_NO_MEMORY;
            return RECMAP_NO_MEMORY;
        }
        taken->bytes = bytes;
        taken->capacity = capacity;
    }
    if (size) memcpy(taken->bytes + taken->size, data, size);
    taken->size += size;
    return RECMAP_OK;
}

static recmap_status take_name(const char *name, recmap_error *error, void *context) {
    return take_bytes(name, strlen(name) + 1, error, context);
}

/* storage_read(capsule, URL, most bytes) -> bytes */
PyObject *storage_read(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_storage *storage = NULL;
    const char *url;
    Py_ssize_t most;
    recmap_error error = RECMAP_ERROR_INIT;
    struct taken taken = {NULL, 0, 0};
    struct signal_check check;
    if (!PyArg_ParseTuple(arguments, "O&sn:storage_read", take_storage, &storage, &url, &most))
        return NULL;
    signals_start(&check);
    recmap_status status =
        recmap_storage_read(storage, url, (size_t)most, take_bytes, &taken, &error);
    signals_stop(&check);
    PyObject *bytes = status == RECMAP_OK
                          ? PyBytes_FromStringAndSize(taken.bytes, (Py_ssize_t)taken.size)
                          : raise_error(&error);
    free(taken.bytes);
    return bytes;
}

static PyObject *names_of(const struct taken *taken) {
    PyObject *names = PyList_New(0);
    for (size_t at = 0; names && at < taken->size; at += strlen(taken->bytes + at) + 1) {
        PyObject *name = PyUnicode_DecodeFSDefault(taken->bytes + at);
        if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

/* storage_list(capsule, pattern) -> [URL] */
PyObject *storage_list(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_storage *storage = NULL;
    const char *pattern;
    recmap_error error = RECMAP_ERROR_INIT;
    struct taken taken = {NULL, 0, 0};
    struct signal_check check;
    if (!PyArg_ParseTuple(arguments, "O&s:storage_list", take_storage, &storage, &pattern))
        return NULL;
    signals_start(&check);
    recmap_status status = recmap_storage_list(storage, pattern, take_name, &taken, &error);
    signals_stop(&check);
    PyObject *names = status == RECMAP_OK ? names_of(&taken) : raise_error(&error);
    free(taken.bytes);
    return names;
}
