#include "dataset/doctor.h"

#include <recmap/doctor.h>

#include "base/arguments.h"
#include "base/progress.h"
#include "base/text.h"
#include "dataset/dataset.h"

PyObject *dataset_examine(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    struct progress_call progress = PROGRESS_CALL_INIT;
    recmap_doctor_options options = RECMAP_DOCTOR_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "O&O&pO&O:_examine", take_array, &numbers, take_uint64,
                          &options.sample, &options.index_only, take_unsigned,
                          &options.thread_count, &progress.callable))
        return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) {
        array_release(&numbers);
        return NULL;
    }
    options.progress = progress_report;
    options.progress_context = &progress;
    recmap_diagnosis *diagnosis = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    progress.thread = PyEval_SaveThread();
    recmap_status status = recmap_dataset_examine(&diagnosis, handle->dataset, numbers.data,
                                                  numbers.count, &options, &error);
    if (status == RECMAP_OK) status = recmap_diagnosis_to_json(&text, diagnosis, &error);
    recmap_diagnosis_destroy(diagnosis);
    PyEval_RestoreThread(progress.thread);
    handle_release(handle);
    array_release(&numbers);
    return text_take(&text, status, &error);
}
