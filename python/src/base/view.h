/* Memoryviews of bytes that another object keeps alive.
 *
 * A memoryview gets its bytes from its exporter: a handle, a record or a batch. A handle or batch
 * has many records, so a thread-local variable tells it which bytes to export while the view is
 * created. This way a record needs only one Python object, the memoryview. */
#ifndef RECMAP_PYTHON_BASE_VIEW_H
#define RECMAP_PYTHON_BASE_VIEW_H

#include "base/python.h"

/* A read-only memoryview of `size` bytes that keeps `exporter` alive. */
PyObject *view_create(PyObject *exporter, const uint8_t *data, size_t size);

/* The Py_bf_getbuffer of all exporters. BufferError outside view_create. */
int view_get_buffer(PyObject *exporter, Py_buffer *buffer, int flags);

#endif
