#include "base/view.h"

/* The bytes that a memoryview in creation is to show. */
struct view_request {
    PyObject *exporter;
    const uint8_t *data;
    size_t size;
};

/* Creating a memoryview can trigger a garbage collection, whose finalisers can create views on the
 * same thread. The requests therefore form a stack; this is the innermost one. */
static _Thread_local const struct view_request *innermost;

PyObject *view_create(PyObject *exporter, const uint8_t *data, size_t size) {
    const struct view_request *outer = innermost, request = {exporter, data, size};
    innermost = &request;
    PyObject *view = PyMemoryView_FromObject(exporter);
    innermost = outer;
    return view;
}

int view_get_buffer(PyObject *exporter, Py_buffer *buffer, int flags) {
    const struct view_request *request = innermost;
    if (request && request->exporter == exporter)
        return PyBuffer_FillInfo(buffer, exporter, (void *)request->data, (Py_ssize_t)request->size,
                                 1, flags);
    buffer->obj = NULL;
    PyErr_SetString(PyExc_BufferError,
                    "this is many records, and only one exports memory: get one with "
                    "data_set[number], or loop over the batch, also in a transform, which gets "
                    "a batch of records");
    return -1;
}
