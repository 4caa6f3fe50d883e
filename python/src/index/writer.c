/* The class Writer, which writes one TFRecord file. A lock admits one thread at a time.
 *
 * After a fork, the lock may be held by a thread that the child does not have, which may have been
 * in the middle of a record. So the child must neither take the lock nor free anything. The class
 * Writer of Python calls write and close only in the process that created the writer. */
#include <unistd.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "index/index.h"

struct writer_object {
    PyObject_HEAD
    recmap_writer *writer; /* NULL once closed */
    int is_compressed;
    PyThread_type_lock lock;
    pid_t owner; /* the process that created it */
};

/* Records of at least this size are written without the GIL, as are all records of a compressed
 * file: any of them may fill the buffer, which is then compressed. */
enum { LARGE = 65536 };

static void lock(struct writer_object *self) {
    if (PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) return;
    Py_BEGIN_ALLOW_THREADS
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

static int open_writer(struct writer_object *self, PyObject *path,
                       const recmap_writer_options *options) {
    self->owner = getpid();
    self->lock = PyThread_allocate_lock();
    if (!self->lock) {
        PyErr_NoMemory();
        return -1;
    }
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_writer_create(&self->writer, PyBytes_AsString(path), options, &error);
    if (status != RECMAP_OK) return raise_error_int(&error);
    self->is_compressed = recmap_writer_get_compression(self->writer) != RECMAP_COMPRESSION_NONE;
    return 0;
}

/* Keeps the converted paths in `kept`, to which those in `paths` point. */
static int convert_paths(const char **paths, PyObject *kept, PyObject *names, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PySequence_GetItem(names, i), *path = NULL;
        int is_taken = name && take_path(name, &path) && !PyList_Append(kept, path);
        if (is_taken) paths[i] = PyBytes_AsString(path);
        Py_XDECREF(name);
        Py_XDECREF(path);
        if (!is_taken) return 0;
    }
    return 1;
}

/* remove_leftovers(paths): the temporary files that killed writers of these files left */
PyObject *remove_leftovers(PyObject *module, PyObject *names) {
    (void)module;
    Py_ssize_t count = PySequence_Size(names);
    if (count < 0) return NULL;
    const char **paths = PyMem_Calloc((size_t)count + 1, sizeof *paths);
    if (!paths) return PyErr_NoMemory();
    PyObject *kept = PyList_New(0);
    int is_ready = kept && convert_paths(paths, kept, names, count);
    Py_BEGIN_ALLOW_THREADS
    if (is_ready) recmap_writer_remove_leftovers(paths, (size_t)count);
    Py_END_ALLOW_THREADS
    Py_XDECREF(kept);
    PyMem_Free(paths);
    if (!is_ready) return NULL;
    Py_RETURN_NONE;
}

/* Writer(path, index or None, id or None, lifts, counted features, compression, threads, keeps
 * leftovers) */
static PyObject *writer_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)keywords;
    PyObject *path = NULL, *index_name, *index = NULL;
    int compression;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_writer_options writing = RECMAP_WRITER_OPTIONS_INIT;
    struct lift_list lifts = {NULL, 0};
    struct counted_list counted = {NULL, 0};
    if (!PyArg_ParseTuple(arguments, "O&OzO&O&iIp:Writer", take_path, &path, &index_name,
                          &options.id_feature, take_lifts, &lifts, take_counted, &counted,
                          &compression, &writing.thread_count, &writing.keeps_leftovers))
        return NULL;
    writing.index = &options;
    writing.compression = (recmap_compression)compression;
    options.lifts = lifts.lifts;
    options.lift_count = lifts.count;
    options.counted_features = counted.features;
    options.counted_feature_count = counted.count;
    options.is_part = 1; /* it is merged with the other shards' indexes */
    struct writer_object *self = NULL;
    if (index_name == Py_None || take_path(index_name, &index)) {
        if (index) writing.index_path = PyBytes_AsString(index);
        allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
        self = (struct writer_object *)allocate(type, 0);
        if (self && open_writer(self, path, &writing) < 0) {
            Py_DECREF((PyObject *)self);
            self = NULL;
        }
    }
    lift_list_deinit(&lifts);
    counted_list_deinit(&counted);
    Py_XDECREF(index);
    Py_DECREF(path);
    return (PyObject *)self;
}

static recmap_status write_bytes(struct writer_object *self, const Py_buffer *bytes,
                                 recmap_error *error) {
    if (bytes->len < LARGE && !self->is_compressed)
        return recmap_writer_write(self->writer, bytes->buf, (size_t)bytes->len, error);
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_writer_write(self->writer, bytes->buf, (size_t)bytes->len, error);
    Py_END_ALLOW_THREADS
    return status;
}

static PyObject *write_record(PyObject *object, PyObject *record) {
    struct writer_object *self = (struct writer_object *)object;
    Py_buffer bytes;
    if (PyObject_GetBuffer(record, &bytes, PyBUF_C_CONTIGUOUS) < 0) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    lock(self);
    int closed = !self->writer;
    if (!closed) status = write_bytes(self, &bytes, &error);
    PyThread_release_lock(self->lock);
    PyBuffer_Release(&bytes);
    if (closed) return PyErr_Format(PyExc_ValueError, "the writer is closed");
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

/* close(): gives the file its final name */
static PyObject *close_writer(PyObject *object, PyObject *unused) {
    (void)unused;
    struct writer_object *self = (struct writer_object *)object;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    lock(self);
    Py_BEGIN_ALLOW_THREADS
    if (self->writer) status = recmap_writer_finish(self->writer, &error);
    recmap_writer_destroy(self->writer);
    self->writer = NULL;
    Py_END_ALLOW_THREADS
    PyThread_release_lock(self->lock);
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

static int is_owner(const struct writer_object *self) {
    return self->owner == getpid();
}

/* abandon(): removes the file. Does nothing in a forked child */
static PyObject *abandon(PyObject *object, PyObject *unused) {
    (void)unused;
    struct writer_object *self = (struct writer_object *)object;
    if (!is_owner(self)) Py_RETURN_NONE;
    lock(self);
    recmap_writer_destroy(self->writer);
    self->writer = NULL;
    PyThread_release_lock(self->lock);
    Py_RETURN_NONE;
}

static void dealloc(PyObject *object) {
    struct writer_object *self = (struct writer_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (is_owner(self)) {
        recmap_writer_destroy(self->writer);
        if (self->lock) PyThread_free_lock(self->lock);
    }
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"write", write_record, METH_O, NULL},
    {"close", close_writer, METH_NOARGS, NULL},
    {"abandon", abandon, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, writer_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What the class Writer holds, once a shard."},
    {0, NULL},
};

PyType_Spec writer_spec = {
    .name = "recmap._recmap.Writer",
    .basicsize = sizeof(struct writer_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
