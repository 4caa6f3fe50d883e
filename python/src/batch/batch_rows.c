/* The rows of a batch: their pieces, and what follows from them. */
#include <recmap/rows.h>

#include <inttypes.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "batch/batch.h"
#include "order/row_order.h"

static const recmap_pieces *pieces_of(PyObject *object) {
    const recmap_pieces *pieces =
        recmap_batch_pieces(((struct batch_object *)object)->shared->batch);
    if (!pieces) PyErr_SetString(PyExc_TypeError, "the batch has records, not rows");
    return pieces;
}

PyObject *batch_pieces(PyObject *object, PyObject *unused) {
    (void)unused;
    const recmap_pieces *pieces = pieces_of(object);
    return pieces ? pieces_wrap(pieces) : NULL;
}

PyObject *batch_row_width(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(
        recmap_batch_row_width(((struct batch_object *)object)->shared->batch));
}

static int check_width(PyObject *object, uint64_t width) {
    uint64_t limit = recmap_batch_row_width(((struct batch_object *)object)->shared->batch);
    if (width <= limit) return 1;
    PyErr_Format(PyExc_ValueError, "the width is %" PRIu64 ", but rows have %" PRIu64 " element%s",
                 width, limit, limit == 1 ? "" : "s");
    return 0;
}

/* The kinds of _read_layout. */
enum layout { LAYOUT_SEGMENTS, LAYOUT_POSITIONS, LAYOUT_POSITIONS_IN_RECORD, LAYOUT_MASK };

/* Releases the GIL: arrays are as large as the batch. */
static void read_layout(const struct array_view *out, const recmap_pieces *pieces, int kind,
                        uint64_t width) {
    Py_BEGIN_ALLOW_THREADS
    switch (kind) {
    case LAYOUT_SEGMENTS: recmap_pieces_segments(out->data, pieces, width); break;
    case LAYOUT_POSITIONS:
        recmap_pieces_positions(out->data, pieces, width, RECMAP_POSITION_IN_PIECE);
        break;
    case LAYOUT_POSITIONS_IN_RECORD:
        recmap_pieces_positions(out->data, pieces, width, RECMAP_POSITION_IN_RECORD);
        break;
    default: recmap_pieces_mask(out->data, pieces, width); break;
    }
    Py_END_ALLOW_THREADS
}

PyObject *batch_read_layout(PyObject *object, PyObject *arguments) {
    PyObject *array;
    int kind;
    uint64_t width;
    const recmap_pieces *pieces = pieces_of(object);
    if (!pieces ||
        !PyArg_ParseTuple(arguments, "OiO&:_read_layout", &array, &kind, take_uint64, &width))
        return NULL;
    struct array_view out = ARRAY_VIEW_INIT;
    size_t item_size = kind == LAYOUT_MASK ? 1 : sizeof(int32_t);
    if (!check_width(object, width) ||
        !take_array_of(array, &out, item_size, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS))
        return NULL;
    int fits = out.count == pieces->row_count * width;
    if (fits) read_layout(&out, pieces, kind, width);
    else PyErr_SetString(PyExc_ValueError, "the array has another size than the rows");
    array_release(&out);
    if (!fits) return NULL;
    Py_RETURN_NONE;
}

PyObject *batch_sequences(PyObject *object, PyObject *arguments) {
    uint64_t width;
    const recmap_pieces *pieces = pieces_of(object);
    if (!pieces || !PyArg_ParseTuple(arguments, "O&:_sequences", take_uint64, &width) ||
        !check_width(object, width))
        return NULL;
    if (pieces->row_count && width > INT32_MAX / pieces->row_count)
        return PyErr_Format(PyExc_ValueError,
                            "%zu rows of %" PRIu64
                            " elements are too many for offsets of 32 bits: use "
                            "smaller batches",
                            pieces->row_count, width);
    int32_t *offsets = malloc((recmap_pieces_sequence_max(pieces) + 1) * sizeof *offsets), longest;
    if (!offsets) return PyErr_NoMemory();
    size_t count = recmap_pieces_sequences(offsets, &longest, pieces, width);
    PyObject *bytes = PyByteArray_FromStringAndSize((const char *)offsets,
                                                    (Py_ssize_t)((count + 1) * sizeof *offsets));
    free(offsets);
    return bytes ? Py_BuildValue("(Ni)", bytes, (int)longest) : NULL;
}
