#include "dataset/schema.h"

#include <recmap/table.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/signals.h"
#include "base/text.h"
#include "dataset/dataset.h"

static recmap_status add_group(recmap_schema *schema, recmap_batch *batch,
                               struct handle_object *handle, const uint64_t *numbers, size_t count,
                               recmap_error *error) {
    recmap_status status = recmap_dataset_gather(batch, handle->dataset, numbers, count, error);
    for (size_t i = 0; i < count && status == RECMAP_OK; i++) {
        const recmap_record *record = &recmap_batch_records(batch)[i];
        status = recmap_schema_add_record(schema, handle->dataset, record, error);
    }
    return status;
}

/* Adds records in groups, and handles signals between them. CANCELLED if a handler raised. */
static recmap_status add_groups(recmap_schema *schema, recmap_batch *batch,
                                struct handle_object *handle, const struct array_view *numbers,
                                recmap_error *error) {
    enum { GROUP_SIZE = 16 };
    recmap_status status = RECMAP_OK;
    for (size_t first = 0; first < numbers->count && status == RECMAP_OK; first += GROUP_SIZE) {
        size_t left = numbers->count - first;
        struct signal_check check;
        signals_start(&check);
        status = add_group(schema, batch, handle, (const uint64_t *)numbers->data + first,
                           left < GROUP_SIZE ? left : GROUP_SIZE, error);
        signals_stop(&check);
        if (status == RECMAP_OK && PyErr_CheckSignals() < 0) status = RECMAP_CANCELLED;
    }
    return status;
}

static recmap_status add_records(recmap_schema *schema, struct handle_object *handle,
                                 const struct array_view *numbers, recmap_error *error) {
    recmap_batch *batch = NULL;
    recmap_status status = recmap_batch_create(&batch, error);
    if (status == RECMAP_OK) status = add_groups(schema, batch, handle, numbers, error);
    recmap_batch_destroy(batch);
    return status;
}

PyObject *dataset_schema(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "O&:_schema", take_array, &numbers)) return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)object);
    if (!handle) {
        array_release(&numbers);
        return NULL;
    }
    recmap_schema *result = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_schema_create(&result, &error);
    if (status == RECMAP_OK) status = add_records(result, handle, &numbers, &error);
    if (status == RECMAP_OK) status = recmap_schema_to_json(&text, result, &error);
    uint64_t other_count = status == RECMAP_OK ? recmap_schema_other_count(result) : 0;
    recmap_schema_destroy(result);
    handle_release(handle);
    array_release(&numbers);
    PyObject *json = text_take(&text, status, &error);
    return json ? Py_BuildValue("(NK)", json, (unsigned long long)other_count) : NULL;
}
