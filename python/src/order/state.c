/* States as JSON text, which Python converts to plain values. */
#include <string.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/text.h"

/* state_create(fingerprint, records, positions, epoch, position, order, seed of draws or None) ->
 * JSON */
PyObject *state_create(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_state_info info = {.format_version = RECMAP_STATE_FORMAT_VERSION};
    const char *fingerprint;
    Py_ssize_t size;
    PyObject *seed;
    if (!PyArg_ParseTuple(arguments, "y#O&O&O&O&sO:state_create", &fingerprint, &size, take_uint64,
                          &info.record_count, take_uint64, &info.position_count, take_uint64,
                          &info.epoch, take_uint64, &info.position, &info.order, &seed))
        return NULL;
    info.has_draws = seed != Py_None;
    if (info.has_draws && !take_uint64(seed, &info.draw_seed)) return NULL;
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

/* order_check(order, positions, order of a state, its positions, epoch, position, continued) raises
 * if the state is of another order. If `continued`, a mixture with other weights or more sources
 * from the state's position on is accepted. Both orders are descriptions. */
PyObject *order_check(PyObject *module, PyObject *arguments) {
    (void)module;
    recmap_state_info info = {.format_version = RECMAP_STATE_FORMAT_VERSION}, here = info;
    int is_continued;
    if (!PyArg_ParseTuple(arguments, "sO&sO&O&O&p:order_check", &here.order, take_uint64,
                          &here.position_count, &info.order, take_uint64, &info.position_count,
                          take_uint64, &info.epoch, take_uint64, &info.position, &is_continued))
        return NULL;
    recmap_state *state = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_state_create(&state, &info, &error);
    if (status == RECMAP_OK && is_continued)
        status = recmap_state_check_continued(state, &here, &error);
    else if (status == RECMAP_OK) status = recmap_state_check(state, &here, &error);
    recmap_state_destroy(state);
    if (status != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}
