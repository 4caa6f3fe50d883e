#include "base/progress.h"

static int tell(PyObject *callable, const recmap_progress *progress) {
    if (PyErr_CheckSignals() < 0) return 1;
    if (!callable || callable == Py_None || progress->is_waiting) return 0;
    PyObject *path = PyUnicode_DecodeFSDefault(progress->path ? progress->path : "");
    PyObject *result =
        path ? PyObject_CallFunction(callable, "KKKN", (unsigned long long)progress->bytes_done,
                                     (unsigned long long)progress->bytes_total,
                                     (unsigned long long)progress->record_count, path)
             : NULL;
    Py_XDECREF(result);
    return !result;
}

int progress_report(const recmap_progress *progress, void *context) {
    struct progress_call *call = context;
    if (call->is_stopped) return 1;
    PyEval_RestoreThread(call->thread);
    call->is_stopped = tell(call->callable, progress);
    call->thread = PyEval_SaveThread();
    return call->is_stopped;
}
