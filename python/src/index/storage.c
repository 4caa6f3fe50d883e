#include "index/storage.h"

#include <recmap/storage.h>

#include "base/errors.h"
#include "base/module.h"

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
