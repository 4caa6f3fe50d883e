#include "index/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/progress.h"
#include "index/extraction.h"
#include "index/storage.h"

int take_lifts(PyObject *object, void *value) {
    struct lift_list *list = value;
    if (!object) {
        lift_list_deinit(list);
        return 1;
    }
    Py_ssize_t count = PySequence_Size(object);
    if (count < 0) return 0;
    list->lifts = calloc((size_t)count + 1, sizeof *list->lifts);
    if (!list->lifts) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *row = PySequence_GetItem(object, i);
        recmap_lift *lift = &list->lifts[i];
        int taken = row && PyArg_ParseTuple(row, "sz|p", &lift->name, &lift->default_value,
                                            &lift->is_nullable);
        Py_XDECREF(row); /* the list still owns the row, and so the strings */
        if (!taken) {
            lift_list_deinit(list);
            return 0;
        }
        list->count++;
    }
    return Py_CLEANUP_SUPPORTED;
}

void lift_list_deinit(struct lift_list *list) {
    free(list->lifts);
    *list = (struct lift_list){NULL, 0};
}

int take_types(PyObject *object, void *value) {
    recmap_type **types = value;
    if (!object) {
        free(*types);
        return 1;
    }
    Py_ssize_t count = PyTuple_Size(object);
    if (count < 0) return 0;
    *types = calloc((size_t)count + 1, sizeof **types);
    if (!*types) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        (*types)[i] = (recmap_type)PyLong_AsLong(PyTuple_GetItem(object, i));
    return PyErr_Occurred() ? 0 : Py_CLEANUP_SUPPORTED;
}

static int take_counted_row(PyObject *row, recmap_counted_feature *feature) {
    const char *dtype = NULL;
    if (!PyArg_ParseTuple(row, "sz", &feature->name, &dtype)) return 0;
    if (!dtype) return 1;
    feature->element = recmap_element_of_name(dtype);
    if (feature->element && feature->element != RECMAP_ELEMENT_BYTES) return 1;
    PyErr_Format(PyExc_ValueError,
                 "the dtype %s of the counted feature '%s' is not a type of numbers, such as "
                 "uint16",
                 dtype, feature->name);
    return 0;
}

int take_counted(PyObject *object, void *value) {
    struct counted_list *list = value;
    if (!object) {
        counted_list_deinit(list);
        return 1;
    }
    Py_ssize_t count = PySequence_Size(object);
    if (count < 0) return 0;
    list->features = calloc((size_t)count + 1, sizeof *list->features);
    if (!list->features) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *row = PySequence_GetItem(object, i);
        int taken = row && take_counted_row(row, &list->features[i]);
        Py_XDECREF(row); /* the list still owns the row, and so the strings */
        if (!taken) {
            counted_list_deinit(list);
            return 0;
        }
        list->count++;
    }
    return Py_CLEANUP_SUPPORTED;
}

void counted_list_deinit(struct counted_list *list) {
    free(list->features);
    *list = (struct counted_list){NULL, 0};
}

typedef recmap_status (*add_fn)(recmap_index_builder *builder, const char *path,
                                recmap_error *error);

/* Returns false with an exception set, or with `status` and `error` set. Other Python threads run
 * meanwhile, because adding an index may wait for another append to it. */
static int add_paths(recmap_index_builder *builder, PyObject *paths, add_fn add,
                     struct progress_call *progress, recmap_status *status, recmap_error *error) {
    Py_ssize_t count = PySequence_Size(paths);
    if (count < 0) return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PySequence_GetItem(paths, i), *path = NULL;
        int taken = name && take_path(name, &path);
        if (taken) {
            progress->thread = PyEval_SaveThread();
            *status = add(builder, PyBytes_AsString(path), error);
            PyEval_RestoreThread(progress->thread);
        }
        Py_XDECREF(name);
        Py_XDECREF(path);
        if (!taken || *status != RECMAP_OK) return 0;
    }
    return 1;
}

static PyObject *text_of(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

static PyObject *summary_of(const recmap_index_summary *summary) {
    return Py_BuildValue(
        "{sKsKsKsKsKsKsKsKsKsNsNsN}", "records", (unsigned long long)summary->record_count,
        "shards", (unsigned long long)summary->shard_count, "bytes",
        (unsigned long long)summary->byte_count, "ids", (unsigned long long)summary->id_count,
        "damage", (unsigned long long)summary->damage_count, "damaged_bytes",
        (unsigned long long)summary->damaged_byte_count, "empty_counts",
        (unsigned long long)summary->empty_counted_features, "empty_lifts",
        (unsigned long long)summary->empty_lifted_features, "repeated_ids",
        (unsigned long long)summary->repeated_id_count, "repeated", text_of(summary->repeated),
        "empty_shard", text_of(summary->empty_shard), "open_shard", text_of(summary->open_shard));
}

/* index_build after the conversion of its arguments. */
static PyObject *build(const char *path, PyObject *indexes, PyObject *shards,
                       recmap_index_options *options, struct progress_call *progress) {
    options->progress = progress_report;
    options->progress_context = progress;
    recmap_index_builder *builder = NULL;
    recmap_index_summary summary;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_index_builder_create(&builder, path, options, &error);
    int added =
        status == RECMAP_OK &&
        add_paths(builder, indexes, recmap_index_builder_add_index, progress, &status, &error) &&
        add_paths(builder, shards, recmap_index_builder_add_shard, progress, &status, &error);
    progress->thread = PyEval_SaveThread();
    if (added) status = recmap_index_builder_finish(&summary, builder, &error);
    recmap_index_builder_destroy(builder);
    PyEval_RestoreThread(progress->thread);
    if (status != RECMAP_OK) return raise_error(&error);
    return added ? summary_of(&summary) : NULL;
}

/* framing_load(path) -> the name of the framing in the shared object */
PyObject *framing_load(PyObject *module, PyObject *object) {
    (void)module;
    PyObject *path = NULL;
    if (!take_path(object, &path)) return NULL;
    const char *name = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_framing_load(&name, PyBytes_AsString(path), &error);
    Py_DECREF(path);
    return status == RECMAP_OK ? PyUnicode_FromString(name) : raise_error(&error);
}

/* index_build(path, indexes, shards, id, lifts, counted features, skip_corrupt, threads, guard,
 *             progress, framing, compression, text_index_folder or None, storage or None, memory
 * limit, whether lifted values may be null, whether shards are read instead of mapped, whether to
 * inherit ids, columns and counts, whether the index will be merged, whether to join copies of
 * sets, types of the columns, what reads ids and columns of messages or None) */
PyObject *index_build(PyObject *module, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"path",
                            "indexes",
                            "shards",
                            "id",
                            "lift",
                            "count",
                            "skip_corrupt",
                            "threads",
                            "guard",
                            "progress",
                            "framing",
                            "compression",
                            "text_index_folder",
                            "storage",
                            "memory_limit",
                            "nullable",
                            "reads_shards",
                            "inherits",
                            "is_part",
                            "joins_sets",
                            "lift_types",
                            "extraction",
                            NULL};
    (void)module;
    PyObject *path = NULL, *indexes, *shards, *text_index_folder = NULL;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    struct progress_call progress = PROGRESS_CALL_INIT;
    struct lift_list lifts = {NULL, 0};
    struct counted_list counted = {NULL, 0};
    recmap_type *types = NULL;
    int skips = 0, compression = 0, is_nullable = 0, joins_sets = 0;
    recmap_message_lift *extraction = NULL;
    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "O&OOzO&O&pO&pOsiO&O&O&pppppO&O&:index_build", names, take_path,
            &path, &indexes, &shards, &options.id_feature, take_lifts, &lifts, take_counted,
            &counted, &skips, take_unsigned, &options.thread_count, &options.guard,
            &progress.callable, &options.framing, &compression, take_path_or_none,
            &text_index_folder, take_storage, &options.storage, take_uint64, &options.memory_limit,
            &is_nullable, &options.reads_shards, &options.inherits, &options.is_part, &joins_sets,
            take_types, &types, take_message_lift, &extraction)) {
        return NULL;
    }
    options.lift = extraction ? recmap_message_lift_read : NULL;
    options.lift_context = extraction;
    options.on_bad_record = skips ? RECMAP_ON_BAD_RECORD_SKIP : RECMAP_ON_BAD_RECORD_ERROR;
    options.compression = (recmap_compression)compression;
    options.sets = joins_sets ? RECMAP_SETS_ALL : RECMAP_SETS_ERROR;
    for (size_t i = 0; i < lifts.count; i++) lifts.lifts[i].is_nullable = is_nullable;
    options.lifts = lifts.lifts;
    options.lift_count = lifts.count;
    options.lift_types = types;
    options.counted_features = counted.features;
    options.counted_feature_count = counted.count;
    options.text_index_folder = text_index_folder ? PyBytes_AsString(text_index_folder) : NULL;
    PyObject *summary = build(PyBytes_AsString(path), indexes, shards, &options, &progress);
    lift_list_deinit(&lifts);
    free(types);
    counted_list_deinit(&counted);
    Py_XDECREF(text_index_folder);
    Py_DECREF(path);
    return summary;
}
