/* Reports the progress of a long operation to a Python callable, and handles signals. Ctrl-C or an
 * exception in the callable stops the operation. */
#ifndef RECMAP_PYTHON_BASE_PROGRESS_H
#define RECMAP_PYTHON_BASE_PROGRESS_H

#include "base/python.h"

/* The operation runs between PyEval_SaveThread, whose result is `thread`, and PyEval_RestoreThread.
 */
struct progress_call {
    PyObject *callable; /* called with (bytes done, bytes in total, records, path), or None */
    PyThreadState *thread;
    int is_stopped; /* a signal's handler or the callable raised */
};

#define PROGRESS_CALL_INIT                                                                         \
    { NULL, NULL, 0 }

/* A recmap_progress_fn whose context is a progress_call. */
int progress_report(const recmap_progress *progress, void *context);

#endif
