#include "dataset/duplicates.h"

#include <recmap/duplicates.h>

#include "base/errors.h"
#include "base/progress.h"
#include "dataset/dataset.h"

struct duplicates_call {
    struct array_view firsts, numbers;
    const char *feature;
    int by_id;
    struct progress_call progress;
};

static int find(struct duplicates_call *call, struct handle_object *handle) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (call->firsts.count != call->numbers.count) {
        PyErr_SetString(PyExc_ValueError, "the arrays must have one item per record");
        return 0;
    }
    recmap_duplicates_options options = RECMAP_DUPLICATES_OPTIONS_INIT;
    options.feature = call->feature;
    options.by_id = call->by_id;
    options.progress = progress_report;
    options.progress_context = &call->progress;
    call->progress.thread = PyEval_SaveThread();
    recmap_status status = recmap_dataset_find_duplicates(call->firsts.data, handle->dataset,
                                                          call->numbers.data, call->numbers.count,
                                                          &options, &error);
    PyEval_RestoreThread(call->progress.thread);
    if (status != RECMAP_OK) raise_error(&error);
    return status == RECMAP_OK;
}

PyObject *dataset_find_duplicates(PyObject *object, PyObject *arguments) {
    struct duplicates_call call = {ARRAY_VIEW_INIT, ARRAY_VIEW_INIT, NULL, 0, PROGRESS_CALL_INIT};
    if (!PyArg_ParseTuple(arguments, "O&O&zpO:_find_duplicates", take_array_out, &call.firsts,
                          take_array, &call.numbers, &call.feature, &call.by_id,
                          &call.progress.callable))
        return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    int is_found = handle && find(&call, handle);
    handle_release(handle);
    array_release(&call.firsts);
    array_release(&call.numbers);
    if (!is_found) return NULL;
    Py_RETURN_NONE;
}
