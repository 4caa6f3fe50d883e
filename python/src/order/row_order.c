#include "order/row_order.h"

#include "base/arguments.h"
#include "base/errors.h"
#include "base/signals.h"
#include "order/counts.h"
#include "order/order.h"

static recmap_order *order_of(PyObject *object) {
    return ((struct order_object *)object)->order;
}

/* chunked(counts, size, overlap, add, is_stored, is_padded, seed) */
PyObject *order_chunked(PyObject *unused, PyObject *arguments) {
    (void)unused;
    recmap_counts *counts;
    recmap_chunked_options options = RECMAP_CHUNKED_OPTIONS_INIT;
    int is_stored, is_padded;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&iiO&:chunked", take_counts, &counts, take_uint64,
                          &options.size, take_uint64, &options.overlap, take_uint64, &options.add,
                          &is_stored, &is_padded, take_uint64, &options.seed))
        return NULL;
    options.documents = is_stored ? RECMAP_DOCUMENTS_STORED : RECMAP_DOCUMENTS_SHUFFLED;
    options.last = is_padded ? RECMAP_TAIL_PAD : RECMAP_TAIL_DROP;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_order_chunked(&order, counts, &options, &error);
    signals_stop(&check);
    return order_wrap(status, order, &error);
}

/* packed(counts, size, add, long, group, seed) */
PyObject *order_packed(PyObject *unused, PyObject *arguments) {
    (void)unused;
    recmap_counts *counts;
    recmap_packed_options options = RECMAP_PACKED_OPTIONS_INIT;
    int long_documents;
    if (!PyArg_ParseTuple(arguments, "O&O&O&iO&O&:packed", take_counts, &counts, take_uint64,
                          &options.size, take_uint64, &options.add, &long_documents, take_unsigned,
                          &options.group, take_uint64, &options.seed))
        return NULL;
    options.long_documents = (recmap_long)long_documents;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_order_packed(&order, counts, &options, &error);
    signals_stop(&check);
    return order_wrap(status, order, &error);
}

/* windows(counts, size, stride, before, after, seed) */
PyObject *order_windows(PyObject *unused, PyObject *arguments) {
    (void)unused;
    recmap_counts *counts;
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&O&:windows", take_counts, &counts, take_uint64,
                          &options.size, take_uint64, &options.stride, take_uint64,
                          &options.pad_before, take_uint64, &options.pad_after, take_uint64,
                          &options.seed))
        return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_order_windows(&order, counts, &options, &error);
    signals_stop(&check);
    return order_wrap(status, order, &error);
}

PyObject *pieces_wrap(const recmap_pieces *pieces) {
    PyObject *items = PyByteArray_FromStringAndSize(
        (const char *)pieces->items, (Py_ssize_t)(pieces->count * sizeof *pieces->items));
    PyObject *ends = PyByteArray_FromStringAndSize(
        (const char *)pieces->ends, (Py_ssize_t)(pieces->row_count * sizeof *pieces->ends));
    PyObject *pair = items && ends ? PyTuple_Pack(2, items, ends) : NULL;
    Py_XDECREF(items);
    Py_XDECREF(ends);
    return pair;
}

PyObject *order_pieces(PyObject *object, PyObject *arguments) {
    struct array_view positions = ARRAY_VIEW_INIT;
    uint64_t epoch;
    if (!PyArg_ParseTuple(arguments, "O&O&:pieces", take_uint64, &epoch, take_array, &positions))
        return NULL;
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_order_pieces(&pieces, order_of(object), epoch, positions.data, positions.count,
                                 &error);
    signals_stop(&check);
    array_release(&positions);
    PyObject *pair = status == RECMAP_OK ? pieces_wrap(&pieces) : raise_error(&error);
    recmap_pieces_deinit(&pieces);
    return pair;
}

PyObject *order_prepare(PyObject *object, PyObject *arguments) {
    uint64_t epoch;
    if (!PyArg_ParseTuple(arguments, "O&:prepare", take_uint64, &epoch)) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_order_prepare(order_of(object), epoch, &error);
    signals_stop(&check);
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

PyObject *order_row_width(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(recmap_order_row_width(order_of(object)));
}

PyObject *order_has_windows(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(recmap_order_has_windows(order_of(object)));
}

PyObject *order_record_limit(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(recmap_order_record_limit(order_of(object)));
}

/* elements() -> (of all records, of these those that no row has) */
PyObject *order_elements(PyObject *object, PyObject *unused) {
    (void)unused;
    const recmap_order *order = order_of(object);
    return Py_BuildValue("(KK)", (unsigned long long)recmap_order_element_count(order),
                         (unsigned long long)recmap_order_left_out(order));
}

PyObject *order_fill(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyFloat_FromDouble(recmap_order_fill(order_of(object)));
}
