#include "dataset/verify.h"

#include "base/arguments.h"
#include "base/progress.h"
#include "base/text.h"
#include "dataset/dataset.h"

PyObject *dataset_verify(PyObject *object, PyObject *arguments) {
    struct progress_call progress = PROGRESS_CALL_INIT;
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "pO&OO&:_verify", &options.index_only, take_unsigned,
                          &options.thread_count, &progress.callable, take_uint64,
                          &options.memory_limit))
        return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    options.progress = progress_report;
    options.progress_context = &progress;
    recmap_report *report = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    progress.thread = PyEval_SaveThread();
    recmap_status status = recmap_dataset_verify(&report, handle->dataset, &options, &error);
    if (status == RECMAP_OK) status = recmap_report_to_json(&text, report, &error);
    recmap_report_destroy(report);
    PyEval_RestoreThread(progress.thread);
    handle_release(handle);
    return text_take(&text, status, &error);
}
