/* A batch of records as a Python sequence of memoryviews, and the columns they were parsed into. It
 * never changes once it is made; views and arrays keep the batch, and the batch its data set. */
#ifndef RECMAP_PYTHON_BATCH_H
#define RECMAP_PYTHON_BATCH_H

#include "handle.h"

/* A batch that the object and its Arrow exports have in common; who lets go last gives it back. */
typedef struct shared_batch {
    Py_ssize_t users; /* under the GIL */
    handle_object *handle;
    recmap_batch *batch;
    recmap_parser *parser; /* that made its columns, or NULL */
    int is_exported;       /* columns: the shared batch is their owner then */
} shared_batch;

typedef struct batch_object {
    PyObject_HEAD
    shared_batch *shared;
} batch_object;

/* A RecordBatch of `batch`, which it takes over, also when it fails. With the parser that made its
 * columns, or NULL. */
PyObject *batch_wrap(handle_object *handle, recmap_batch *batch, recmap_parser *parser);

/* The records `numbers`; all of them are in range. With a parser also their columns. */
PyObject *batch_gather(handle_object *handle, const uint64_t *numbers, size_t count,
                       recmap_parser *parser, recmap_parse_mode mode);

/* One user less; the GIL is held. */
void shared_batch_release(shared_batch *shared);

/* The columns; NULL with TypeError where the batch has none. */
recmap_columns *batch_columns(batch_object *batch);

/* Methods of a batch that live in files of their own. */
PyObject *batch_describe_columns(PyObject *batch, PyObject *unused);
PyObject *batch_failures(PyObject *batch, PyObject *unused);
PyObject *batch_arrow_array(PyObject *batch, PyObject *column_index);
PyObject *batch_arrow_stream(PyObject *batch, PyObject *unused);
PyObject *batch_dlpack(PyObject *batch, PyObject *arguments);

#endif
