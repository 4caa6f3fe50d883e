/* The methods of an order object that concern rows. */
#ifndef RECMAP_PYTHON_ORDER_ROW_ORDER_H
#define RECMAP_PYTHON_ORDER_ROW_ORDER_H

#include "base/python.h"

#include <recmap/rows.h>

/* Static methods; each has the options of its C function as arguments. */
PyObject *order_chunked(PyObject *unused, PyObject *arguments);
PyObject *order_packed(PyObject *unused, PyObject *arguments);
PyObject *order_windows(PyObject *unused, PyObject *arguments);

/* Pieces as (bytearray, bytearray): of each piece record, first, count, place and length, and the
 * end of each row among the pieces, as words of 64 bits. */
PyObject *pieces_wrap(const recmap_pieces *pieces);

/* pieces(epoch, positions) -> see pieces_wrap */
PyObject *order_pieces(PyObject *object, PyObject *arguments);

/* prepare(epoch) */
PyObject *order_prepare(PyObject *object, PyObject *arguments);

PyObject *order_row_width(PyObject *object, PyObject *unused);
PyObject *order_has_windows(PyObject *object, PyObject *unused);
PyObject *order_record_limit(PyObject *object, PyObject *unused);
PyObject *order_elements(PyObject *object, PyObject *unused);
PyObject *order_fill(PyObject *object, PyObject *unused);

#endif
