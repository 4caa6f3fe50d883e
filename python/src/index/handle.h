/* A handle: an open data set that all of its views and batches keep alive. Closing a Dataset
 * releases its handle; the shards stay mapped until the last view is gone. */
#ifndef RECMAP_PYTHON_INDEX_HANDLE_H
#define RECMAP_PYTHON_INDEX_HANDLE_H

#include "base/python.h"

#include <stdatomic.h>

enum { HANDLE_SPARES = 16 };

struct handle_object {
    PyObject_HEAD
    recmap_dataset *dataset;
    PyObject *parts;                     /* the handles of a concatenation, or NULL */
    PyObject *extraction;                /* what reads the ids of messages, or NULL */
    atomic_uint lookups;                 /* a counter, to time one of several */
    atomic_uint waits;                   /* the number of next lookups that release the GIL */
    recmap_batch *spares[HANDLE_SPARES]; /* empty batches, to reuse their memory */
    unsigned spare_count;
};

static inline void handle_retain(struct handle_object *handle) {
    Py_INCREF((PyObject *)handle);
}

/* NULL is allowed. */
static inline void handle_release(struct handle_object *handle) {
    Py_XDECREF((PyObject *)handle);
}

/* A memoryview of the record `number`, which must be in range. The caller keeps the handle. */
PyObject *handle_view(struct handle_object *handle, uint64_t number);

/* Takes an empty batch, spare or new (NULL with MemoryError), and gives a batch back. */
recmap_batch *handle_take_batch(struct handle_object *handle);
void handle_give_batch(struct handle_object *handle, recmap_batch *batch);

#endif
