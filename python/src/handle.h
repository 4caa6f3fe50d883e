/* A handle: an open data set, which everything that came out of it keeps. Closing a Dataset only
 * lets go of its handle; the maps end with the last view. */
#ifndef RECMAP_PYTHON_HANDLE_H
#define RECMAP_PYTHON_HANDLE_H

#include "python.h"

enum { HANDLE_SPARES = 16 };

typedef struct handle_object {
    PyObject_HEAD
    recmap_dataset *dataset;
    unsigned lookups;                    /* to time one of several */
    unsigned waits;                      /* so many lookups more are made without the GIL */
    recmap_batch *spares[HANDLE_SPARES]; /* empty batches, for their memory */
    unsigned spare_count;
} handle_object;

static inline void handle_retain(handle_object *handle) {
    Py_INCREF((PyObject *)handle);
}

/* NULL may be released. */
static inline void handle_release(handle_object *handle) {
    Py_XDECREF((PyObject *)handle);
}

/* A memoryview of the record `number`, which is in range. */
PyObject *handle_view(handle_object *handle, uint64_t number);

/* An empty batch: a spare one or a new one; NULL with MemoryError. And back again. */
recmap_batch *handle_take_batch(handle_object *handle);
void handle_give_batch(handle_object *handle, recmap_batch *batch);

#endif
