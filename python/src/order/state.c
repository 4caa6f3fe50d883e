/* States as JSON text, which Python converts to plain values. */
#include <string.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/text.h"

/* state_create(fingerprint, records, positions, epoch, position, order) -> JSON */
PyObject *state_create(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_state_info info = {.format_version = RECMAP_STATE_FORMAT_VERSION};
    const char *fingerprint;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "y#O&O&O&O&s:state_create", &fingerprint, &size, take_uint64,
                          &info.record_count, take_uint64, &info.position_count, take_uint64,
                          &info.epoch, take_uint64, &info.position, &info.order))
        return NULL;
    if ((size_t)size != sizeof info.fingerprint.bytes)
        return PyErr_Format(PyExc_ValueError, "a fingerprint has 16 bytes, not %zd", size);
    memcpy(info.fingerprint.bytes, fingerprint, (size_t)size);
    recmap_state *state = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_state_create(&state, &info, &error);
    if (status == RECMAP_OK) status = recmap_state_to_json(&text, state, &error);
    recmap_state_destroy(state);
    return text_take(&text, status, &error);
}

/* order_continues(order, order of a state, positions, epoch, position) -> whether the state can be
 * continued with the order: it is the same one, or a mixture with other weights or more sources
 * from there on. Both orders are descriptions. */
PyObject *order_continues(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_state_info info = {.format_version = RECMAP_STATE_FORMAT_VERSION}, here;
    const char *order;
    if (!PyArg_ParseTuple(arguments, "ssO&O&O&:order_continues", &order, &info.order, take_uint64,
                          &info.position_count, take_uint64, &info.epoch, take_uint64,
                          &info.position))
        return NULL;
    here = info;
    here.order = order;
    recmap_state *state = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_state_create(&state, &info, &error);
    if (status == RECMAP_OK) status = recmap_state_check_continued(state, &here, &error);
    recmap_state_destroy(state);
    if (status != RECMAP_OK && status != RECMAP_MISMATCH) return raise_error(&error);
    return PyBool_FromLong(status == RECMAP_OK);
}
