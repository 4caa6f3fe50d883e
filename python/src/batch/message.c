#include "batch/message.h"

#include "base/errors.h"
#include "base/module.h"
#include "batch/feature_rows.h"
#include "index/extraction.h"

struct message_type_object {
    PyObject_HEAD
    recmap_message_type *type;
};

static recmap_message_type *type_of(PyObject *object) {
    return ((struct message_type_object *)object)->type;
}

int take_message_type(PyObject *object, void *type) {
    *(recmap_message_type **)type = NULL;
    if (object == Py_None) return 1;
    if (!PyObject_TypeCheck(object, message_type_type)) {
        PyErr_SetString(PyExc_TypeError, "a recmap._recmap.MessageType is needed");
        return 0;
    }
    *(recmap_message_type **)type = type_of(object);
    return 1;
}

/* MessageType(descriptor set or None, name or None) */
static PyObject *message_type_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)keywords;
    Py_buffer set = {.buf = NULL};
    const char *name;
    if (!PyArg_ParseTuple(arguments, "z*z:MessageType", &set, &name)) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_message_type *fresh = NULL;
    recmap_status status =
        recmap_message_type_create(&fresh, set.buf, (size_t)set.len, name, &error);
    if (set.obj) PyBuffer_Release(&set);
    if (status != RECMAP_OK) return raise_error(&error);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct message_type_object *self = (struct message_type_object *)allocate(type, 0);
    if (self) self->type = fresh;
    else recmap_message_type_release(fresh);
    return (PyObject *)self;
}

static PyObject *name(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(recmap_message_type_name(type_of(object)));
}

/* find(path) -> (kind, dtype or None, levels) */
static PyObject *find(PyObject *object, PyObject *path) {
    recmap_message_field field;
    recmap_error error = RECMAP_ERROR_INIT;
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(path, &size);
    if (!text) return NULL;
    if (recmap_message_type_find(&field, type_of(object), text, &error) != RECMAP_OK)
        return raise_error(&error);
    return Py_BuildValue("(szn)", field.kind, recmap_element_name(field.element),
                         (Py_ssize_t)field.levels);
}

static PyObject *text_of(recmap_text *text, recmap_status status, const recmap_error *error) {
    PyObject *result = status == RECMAP_OK
                           ? PyUnicode_DecodeUTF8(text->data, (Py_ssize_t)text->size, NULL)
                           : raise_error(error);
    recmap_text_deinit(text);
    return result;
}

/* fields() -> JSON */
static PyObject *fields(PyObject *object, PyObject *unused) {
    (void)unused;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_message_type_to_json(&text, type_of(object), &error);
    return text_of(&text, status, &error);
}

/* record(bytes, number) -> JSON */
static PyObject *record(PyObject *object, PyObject *arguments) {
    Py_buffer bytes;
    unsigned long long number;
    if (!PyArg_ParseTuple(arguments, "y*K:record", &bytes, &number)) return NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    const recmap_record view = {bytes.buf, (size_t)bytes.len, number, NULL};
    recmap_status status = recmap_message_to_json(&text, type_of(object), &view, &error);
    PyBuffer_Release(&bytes);
    return text_of(&text, status, &error);
}

static void release_lift(PyObject *capsule) {
    recmap_message_lift_destroy(PyCapsule_GetPointer(capsule, MESSAGE_LIFT_CAPSULE));
}

/* Takes over the lift. */
static PyObject *lift_result(recmap_message_lift *lift) {
    PyObject *capsule = PyCapsule_New(lift, MESSAGE_LIFT_CAPSULE, release_lift);
    if (!capsule) {
        recmap_message_lift_destroy(lift);
        return NULL;
    }
    return Py_BuildValue("(Nz)", capsule, recmap_message_lift_id_name(lift));
}

/* lift((row of the id,) or (), rows of the columns) -> (capsule, name of the ids or None): what the
 * ids and columns of an index are read with */
static PyObject *lift(PyObject *object, PyObject *arguments) {
    PyObject *id, *columns;
    size_t id_count, column_count;
    if (!PyArg_ParseTuple(arguments, "O!O!:lift", &PyTuple_Type, &id, &PyTuple_Type, &columns))
        return NULL;
    struct feature_memory memory = {NULL, 0};
    recmap_feature *ids = feature_rows_read(&id_count, id, &memory), *lifts = NULL;
    recmap_message_lift *fresh = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_INVALID;
    if (ids) lifts = feature_rows_read(&column_count, columns, &memory);
    if (lifts)
        status = recmap_message_lift_create(&fresh, type_of(object), id_count ? ids : NULL, lifts,
                                            column_count, &error);
    if (lifts && status != RECMAP_OK) raise_error(&error);
    feature_memory_deinit(&memory);
    return status == RECMAP_OK ? lift_result(fresh) : NULL;
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    recmap_message_type_release(type_of(object));
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"name", name, METH_NOARGS, NULL},     {"find", find, METH_O, NULL},
    {"fields", fields, METH_NOARGS, NULL}, {"record", record, METH_VARARGS, NULL},
    {"lift", lift, METH_VARARGS, NULL},    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, message_type_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A type of messages."},
    {0, NULL},
};

PyType_Spec message_type_spec = {
    .name = "recmap._recmap.MessageType",
    .basicsize = sizeof(struct message_type_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
