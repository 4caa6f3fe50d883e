#include "dataset/counted.h"

#include "base/errors.h"
#include "base/signals.h"
#include "dataset/dataset.h"
#include "order/counts.h"

PyObject *dataset_counted_table(PyObject *object, PyObject *unused) {
    (void)unused;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) return NULL;
    size_t count = recmap_dataset_get_info(handle->dataset)->counted_feature_count;
    PyObject *table = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; table && i < count; i++) {
        recmap_counted_feature feature = {0};
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status =
            recmap_dataset_get_counted_feature(&feature, handle->dataset, i, &error);
        PyObject *row = status != RECMAP_OK ? raise_error(&error)
                                            : Py_BuildValue("(sz)", feature.name,
                                                            recmap_element_name(feature.element));
        if (!row) Py_CLEAR(table);
        else PyList_SetItem(table, (Py_ssize_t)i, row);
    }
    handle_release(handle);
    return table;
}

PyObject *dataset_read_counts(PyObject *object, PyObject *name) {
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    struct handle_object *handle = text ? dataset_handle((struct dataset_object *)object) : NULL;
    if (!handle) return NULL;
    recmap_counts *counts = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_dataset_read_counts(&counts, handle->dataset, text, &error);
    signals_stop(&check);
    handle_release(handle);
    return status == RECMAP_OK ? counts_wrap(counts) : raise_error(&error);
}
