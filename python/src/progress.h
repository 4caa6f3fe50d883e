/* Progress of a long operation, told to a Python callable, with a look at signals: Ctrl-C stops the
 * operation, and so does an exception of the callable's. */
#ifndef RECMAP_PYTHON_PROGRESS_H
#define RECMAP_PYTHON_PROGRESS_H

#include "python.h"

/* The operation runs between PyEval_SaveThread, whose result is `thread`, and PyEval_RestoreThread.
 */
typedef struct progress_call {
    PyObject *callable; /* called with (bytes done, bytes in all, records, path); None: not */
    PyThreadState *thread;
} progress_call;

#define PROGRESS_CALL_INIT                                                                         \
    { NULL, NULL }

/* A recmap_progress_fn whose context is a progress_call. */
int progress_report(void *context, const recmap_progress *progress);

#endif
