/* A batch of records as an immutable Python sequence of memoryviews, and the columns parsed from
 * them. Views and arrays keep the batch alive, and the batch keeps its data set alive. */
#ifndef RECMAP_PYTHON_BATCH_BATCH_H
#define RECMAP_PYTHON_BATCH_BATCH_H

#include <stdatomic.h>

#include <recmap/rows.h>

#include "index/handle.h"

/* A batch shared by the object and its Arrow exports. The last user gives it back. */
struct shared_batch {
    atomic_size_t users;
    struct handle_object *handle;
    recmap_batch *batch;
    recmap_parser *parser; /* of its columns, or NULL */
    int is_exported;       /* whether the shared batch owns the columns */
};

struct batch_object {
    PyObject_HEAD
    struct shared_batch *shared;
    uint64_t step; /* of a loader's run, or RECMAP_NO_STEP */
};

/* Wraps `batch` in a RecordBatch, and takes ownership even if it fails. `parser` parsed its
 * columns, or is NULL. */
PyObject *batch_wrap(struct handle_object *handle, recmap_batch *batch, recmap_parser *parser);

/* Reads the records `numbers`, which must be in range, and parses them if there is a parser.
 * `thread_count`: see recmap_batch_set_threads; `draws`: recmap_batch_set_draws. */
PyObject *batch_gather(struct handle_object *handle, const uint64_t *numbers, size_t count,
                       recmap_parser *parser, recmap_parse_mode mode, unsigned thread_count,
                       const recmap_draws *draws);

/* Reads the rows at some positions of an epoch; see recmap_dataset_rows. NULL for `draws`: nothing
 * is random. */
PyObject *batch_cut(struct handle_object *handle, const recmap_order *order, recmap_parser *parser,
                    uint64_t epoch, const uint64_t *positions, size_t count,
                    const recmap_draws *draws);

/* Releases one use. Needs the GIL. */
void shared_batch_release(struct shared_batch *shared);

/* The columns; NULL with TypeError if the batch was not parsed. */
recmap_columns *batch_columns(struct batch_object *batch);

/* Methods of a batch that are defined in other files. */
PyObject *batch_describe_columns(PyObject *batch, PyObject *unused);
PyObject *batch_null_columns(PyObject *batch, PyObject *unused);
PyObject *batch_failures(PyObject *batch, PyObject *unused);

/* Methods of a batch of rows. TypeError for other batches, whose width is 0.
 * _pieces() -> see pieces_wrap; _row_width() -> int
 * _read_layout(array, kind, width): into an array of int32 or, for a mask, bool; see enum layout
 * _sequences(width) -> (bytearray of int32 offsets, length of the longest sequence) */
PyObject *batch_pieces(PyObject *object, PyObject *unused);
PyObject *batch_row_width(PyObject *object, PyObject *unused);
PyObject *batch_read_layout(PyObject *object, PyObject *arguments);
PyObject *batch_sequences(PyObject *object, PyObject *arguments);

PyObject *batch_arrow_array(PyObject *batch, PyObject *column_index);
PyObject *batch_arrow_stream(PyObject *batch, PyObject *unused);
PyObject *batch_dlpack(PyObject *batch, PyObject *arguments);

#endif
