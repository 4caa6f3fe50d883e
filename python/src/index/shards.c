/* Expands names of shards by the rules of the library. */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/signals.h"
#include "index/storage.h"

static recmap_status add_all(recmap_shards *shards, PyObject *names, int *has_failed,
                             recmap_error *error) {
    Py_ssize_t count = PySequence_Size(names);
    recmap_status status = RECMAP_OK;
    for (Py_ssize_t i = 0; i < count && status == RECMAP_OK; i++) {
        PyObject *name = PySequence_GetItem(names, i), *path = NULL;
        *has_failed = !name || !take_path(name, &path);
        if (!*has_failed) {
            /* A pattern in a remote store is matched by requests to it. */
            const char *text = PyBytes_AsString(path);
            struct signal_check check;
            signals_start(&check);
            status = recmap_shards_add(shards, text, error);
            signals_stop(&check);
        }
        Py_XDECREF(name);
        Py_XDECREF(path);
        if (*has_failed) break;
    }
    return status;
}

typedef const char *text_at(const recmap_shards *shards, size_t index);

static PyObject *texts_of(const recmap_shards *shards, size_t count, text_at *find) {
    PyObject *paths = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; paths && i < count; i++) {
        PyObject *path = PyUnicode_DecodeFSDefault(find(shards, i));
        if (!path) Py_CLEAR(paths);
        else PyList_SetItem(paths, (Py_ssize_t)i, path);
    }
    return paths;
}

static PyObject *describe(const recmap_shards *shards, const char *index) {
    PyObject *paths = texts_of(shards, recmap_shards_count(shards), recmap_shards_path);
    PyObject *urls = texts_of(shards, recmap_shards_signed_count(shards), recmap_shards_signed_url);
    PyObject *warnings =
        texts_of(shards, recmap_shards_warning_count(shards), recmap_shards_warning);
    PyObject *notes =
        texts_of(shards, recmap_shards_left_out_note_count(shards), recmap_shards_left_out_note);
    PyObject *index_path = PyUnicode_DecodeFSDefault(index), *result = NULL;
    if (paths && urls && warnings && notes && index_path)
        result = Py_BuildValue("(OOOOOO)", paths, index_path, urls, warnings, notes,
                               recmap_shards_name_one(shards) ? Py_True : Py_False);
    Py_XDECREF(paths);
    Py_XDECREF(urls);
    Py_XDECREF(warnings);
    Py_XDECREF(notes);
    Py_XDECREF(index_path);
    return result;
}

/* shards_expand(names, storage or None, split or None, joins_sets, framing, finds_index)
 * -> ([path], path of their index, [signed URL], [warning], [note about files left out],
 *     whether the one shard is meant to be alone) */
PyObject *shards_expand(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *names;
    recmap_storage *storage = NULL;
    const char *split, *framing;
    int joins_sets, finds_index;
    if (!PyArg_ParseTuple(arguments, "OO&zpsp:shards_expand", &names, take_storage, &storage,
                          &split, &joins_sets, &framing, &finds_index))
        return NULL;
    recmap_shards *shards = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    int has_failed = 0;
    char index[4096];
    recmap_status status = recmap_shards_create(&shards, &error);
    if (status == RECMAP_OK) status = recmap_shards_set_storage(shards, storage, &error);
    if (status == RECMAP_OK)
        status = recmap_shards_choose_sets(
            shards, split, joins_sets ? RECMAP_SETS_ALL : RECMAP_SETS_ERROR, &error);
    if (status == RECMAP_OK) recmap_shards_set_framing(shards, framing);
    if (status == RECMAP_OK) status = add_all(shards, names, &has_failed, &error);
    if (status == RECMAP_OK && !has_failed)
        status = finds_index ? recmap_shards_find_index(index, sizeof index, shards, &error)
                             : recmap_shards_index_path(index, sizeof index, shards, &error);
    PyObject *result = NULL;
    if (status != RECMAP_OK) raise_error(&error);
    else if (!has_failed) result = describe(shards, index);
    recmap_shards_destroy(shards);
    return result;
}

/* shards_planned(name) -> [path]: the shards that are to be written as NAME@N, or the name itself
 */
PyObject *shards_planned(PyObject *module, PyObject *name) {
    (void)module;
    PyObject *path = NULL, *result = NULL;
    if (!take_path(name, &path)) return NULL;
    recmap_shards *shards = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_shards_create(&shards, &error);
    if (status == RECMAP_OK)
        status = recmap_shards_add_planned(shards, PyBytes_AsString(path), &error);
    if (status != RECMAP_OK) raise_error(&error);
    else result = texts_of(shards, recmap_shards_count(shards), recmap_shards_path);
    recmap_shards_destroy(shards);
    Py_DECREF(path);
    return result;
}
