/* Memoryviews over bytes that another object keeps.
 *
 * A memoryview asks its exporter for the bytes. The exporters here (a handle, a record, a batch)
 * have no bytes of their own: which ones are meant is said by the thread that makes the view, for
 * as long as it makes it. So a record costs one object, the memoryview, and nothing else. */
#ifndef RECMAP_PYTHON_VIEW_H
#define RECMAP_PYTHON_VIEW_H

#include "python.h"

/* A read-only memoryview of `size` bytes that keeps `exporter`. */
PyObject *view_make(PyObject *exporter, const uint8_t *data, size_t size);

/* The Py_bf_getbuffer of all exporters. BufferError but within view_make. */
int view_get_buffer(PyObject *exporter, Py_buffer *buffer, int flags);

#endif
