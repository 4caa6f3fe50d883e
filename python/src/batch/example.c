/* The class ExampleBuilder. Only the thread that created an instance uses it. */
#include <stdbool.h>
#include <stdlib.h>

#include <recmap/example_builder.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "batch/example_rows.h"
#include "batch/plain_numbers.h"

struct builder_object {
    PyObject_HEAD
    recmap_example_builder *builder;
};

static recmap_example_builder *builder_of(PyObject *object) {
    return ((struct builder_object *)object)->builder;
}

static PyObject *none_or_raise(recmap_status status, const recmap_error *error) {
    if (status != RECMAP_OK) return raise_error(error);
    Py_RETURN_NONE;
}

static PyObject *builder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)arguments;
    (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct builder_object *self = (struct builder_object *)allocate(type, 0);
    if (!self || recmap_example_builder_create(&self->builder, NULL) == RECMAP_OK)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return PyErr_NoMemory();
}

/* begin(is_sequence) */
static PyObject *begin(PyObject *object, PyObject *is_sequence) {
    int sequence = PyObject_IsTrue(is_sequence);
    if (sequence < 0) return NULL;
    recmap_example_builder_begin(builder_of(object), sequence ? RECMAP_MESSAGE_SEQUENCE_EXAMPLE
                                                              : RECMAP_MESSAGE_EXAMPLE);
    Py_RETURN_NONE;
}

/* add_int64(name, array of int64) */
static PyObject *add_int64(PyObject *object, PyObject *arguments) {
    const char *name;
    struct array_view values = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "zO&:add_int64", &name, take_array, &values)) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_example_builder_add_int64(builder_of(object), name, values.data,
                                                            values.count, &error);
    array_release(&values);
    return none_or_raise(status, &error);
}

/* add_float(name, array of float32) */
static PyObject *add_float(PyObject *object, PyObject *arguments) {
    const char *name;
    PyObject *array;
    struct array_view values = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "zO:add_float", &name, &array) ||
        !take_array_of(array, &values, sizeof(float), PyBUF_SIMPLE))
        return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_example_builder_add_float(builder_of(object), name, values.data,
                                                            values.count, &error);
    array_release(&values);
    return none_or_raise(status, &error);
}

/* add_numbers(name, value): adds plain numbers. Returns False, adding nothing, for other values. */
static PyObject *add_numbers(PyObject *object, PyObject *arguments) {
    const char *name;
    PyObject *value;
    struct plain_numbers numbers;
    if (!PyArg_ParseTuple(arguments, "zO:add_numbers", &name, &value)) return NULL;
    recmap_example_builder *builder = builder_of(object);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    if (!plain_numbers_init(&numbers, value)) return NULL;
    if (numbers.type == RECMAP_TYPE_INT64)
        status = recmap_example_builder_add_int64(builder, name, numbers.items.integers,
                                                  numbers.count, &error);
    else if (numbers.type == RECMAP_TYPE_FLOAT)
        status = recmap_example_builder_add_float(builder, name, numbers.items.floats,
                                                  numbers.count, &error);
    bool is_added = numbers.type != RECMAP_TYPE_NONE;
    plain_numbers_deinit(&numbers);
    return status == RECMAP_OK ? PyBool_FromLong(is_added) : raise_error(&error);
}

/* Borrowed bytes of values; those of a str are UTF-8. */
struct bytes_list {
    recmap_bytes *values;
    Py_buffer *buffers; /* `obj` is NULL for a str, which owns its bytes */
    Py_ssize_t count;
};

static void bytes_list_deinit(struct bytes_list *list) {
    for (Py_ssize_t i = 0; i < list->count; i++)
        if (list->buffers[i].obj) PyBuffer_Release(&list->buffers[i]);
    free(list->values);
    free(list->buffers);
}

static int take_one(recmap_bytes *value, Py_buffer *buffer, PyObject *object) {
    static const uint8_t nothing[1];
    buffer->obj = NULL;
    if (PyUnicode_Check(object)) {
        Py_ssize_t size;
        const char *text = PyUnicode_AsUTF8AndSize(object, &size);
        if (!text) return 0;
        *value = (recmap_bytes){(const uint8_t *)text, (size_t)size};
        return 1;
    }
    if (PyObject_GetBuffer(object, buffer, PyBUF_C_CONTIGUOUS) < 0) {
        buffer->obj = NULL;
        return 0;
    }
    *value = (recmap_bytes){buffer->len ? buffer->buf : nothing, (size_t)buffer->len};
    return 1;
}

static int take_bytes_list(struct bytes_list *list, PyObject *objects) {
    Py_ssize_t count = PyList_Size(objects);
    *list = (struct bytes_list){.values = calloc((size_t)count + 1, sizeof *list->values),
                                .buffers = calloc((size_t)count + 1, sizeof *list->buffers)};
    if (!list->values || !list->buffers) {
        PyErr_NoMemory();
        return 0;
    }
    for (; list->count < count; list->count++)
        if (!take_one(&list->values[list->count], &list->buffers[list->count],
                      PyList_GetItem(objects, list->count)))
            return 0;
    return 1;
}

/* add_bytes(name, [bytes or str]) */
static PyObject *add_bytes(PyObject *object, PyObject *arguments) {
    const char *name;
    PyObject *objects;
    if (!PyArg_ParseTuple(arguments, "zO!:add_bytes", &name, &PyList_Type, &objects)) return NULL;
    struct bytes_list list;
    PyObject *result = NULL;
    if (take_bytes_list(&list, objects)) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_example_builder_add_bytes(
            builder_of(object), name, list.values, (size_t)list.count, &error);
        result = none_or_raise(status, &error);
    }
    bytes_list_deinit(&list);
    return result;
}

static PyObject *add_unset(PyObject *object, PyObject *arguments) {
    const char *name;
    if (!PyArg_ParseTuple(arguments, "z:add_unset", &name)) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    return none_or_raise(recmap_example_builder_add_unset(builder_of(object), name, &error),
                         &error);
}

static PyObject *begin_list(PyObject *object, PyObject *arguments) {
    const char *name;
    if (!PyArg_ParseTuple(arguments, "s:begin_list", &name)) return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    return none_or_raise(recmap_example_builder_begin_list(builder_of(object), name, &error),
                         &error);
}

static PyObject *end_list(PyObject *object, PyObject *unused) {
    (void)unused;
    recmap_example_builder_end_list(builder_of(object));
    Py_RETURN_NONE;
}

static PyObject *finish(PyObject *object, PyObject *unused) {
    (void)unused;
    const uint8_t *data;
    size_t size;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_example_builder_finish(&data, &size, builder_of(object), &error);
    return status == RECMAP_OK ? PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)size)
                               : raise_error(&error);
}

static PyObject *encode(PyObject *object, PyObject *arguments) {
    return encode_rows(builder_of(object), arguments);
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    recmap_example_builder_destroy(builder_of(object));
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"begin", begin, METH_O, NULL},
    {"add_int64", add_int64, METH_VARARGS, NULL},
    {"add_float", add_float, METH_VARARGS, NULL},
    {"add_numbers", add_numbers, METH_VARARGS, NULL},
    {"add_bytes", add_bytes, METH_VARARGS, NULL},
    {"add_unset", add_unset, METH_VARARGS, NULL},
    {"begin_list", begin_list, METH_VARARGS, NULL},
    {"end_list", end_list, METH_NOARGS, NULL},
    {"finish", finish, METH_NOARGS, NULL},
    {"encode_rows", encode, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, builder_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A tf.Example or tf.SequenceExample being built."},
    {0, NULL},
};

PyType_Spec example_builder_spec = {
    .name = "recmap._recmap.ExampleBuilder",
    .basicsize = sizeof(struct builder_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
