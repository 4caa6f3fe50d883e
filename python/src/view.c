#include "view.h"

typedef struct wanted {
    PyObject *exporter;
    const uint8_t *data;
    size_t size;
} wanted;

/* Making a memoryview can run a collection, which can run any code, which can make views on the
 * same thread: the wanted bytes are those of the innermost one. */
static _Thread_local const wanted *innermost;

PyObject *view_make(PyObject *exporter, const uint8_t *data, size_t size) {
    const wanted *outer = innermost, mine = {exporter, data, size};
    innermost = &mine;
    PyObject *view = PyMemoryView_FromObject(exporter);
    innermost = outer;
    return view;
}

int view_get_buffer(PyObject *exporter, Py_buffer *buffer, int flags) {
    const wanted *bytes = innermost;
    if (bytes && bytes->exporter == exporter)
        return PyBuffer_FillInfo(buffer, exporter, (void *)bytes->data, (Py_ssize_t)bytes->size, 1,
                                 flags);
    buffer->obj = NULL;
    PyErr_SetString(PyExc_BufferError, "only records have bytes: take one with data_set[number]");
    return -1;
}
