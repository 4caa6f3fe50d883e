/* Decodes one tf.Example or tf.SequenceExample. The Python side makes arrays of the numbers. */
#include <recmap/example.h>

#include "base/errors.h"
#include "base/module.h"

struct decoding {
    PyObject *features; /* {name: value} */
    PyObject *lists;    /* {name: [value]}; NULL without feature lists */
    PyObject *steps;    /* of the last list; borrowed */
};

static PyObject *list_of_bytes(const recmap_bytes *values, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *value =
            PyBytes_FromStringAndSize((const char *)values[i].data, (Py_ssize_t)values[i].size);
        if (!value) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, value);
    }
    return list;
}

/* (dtype, bytearray with the values) */
static PyObject *numbers_of(const char *dtype, const void *values, size_t size) {
    PyObject *memory = PyByteArray_FromStringAndSize(values, (Py_ssize_t)size);
    return memory ? Py_BuildValue("(sN)", dtype, memory) : NULL;
}

static PyObject *value_of(const recmap_example_part *part) {
    switch (part->type) {
    case RECMAP_TYPE_INT64: return numbers_of("int64", part->int64s, part->count * sizeof(int64_t));
    case RECMAP_TYPE_FLOAT: return numbers_of("float32", part->floats, part->count * sizeof(float));
    case RECMAP_TYPE_BYTES: return list_of_bytes(part->bytes, part->count);
    default: Py_RETURN_NONE;
    }
}

/* Adds an item to a dict and releases the reference to `value`. */
static int add_item(PyObject *dict, const recmap_example_part *part, PyObject *value) {
    PyObject *name = PyUnicode_DecodeUTF8(part->name, (Py_ssize_t)part->name_size, "strict");
    int failed = !name || !value || PyObject_SetItem(dict, name, value) < 0;
    Py_XDECREF(name);
    Py_XDECREF(value);
    return !failed;
}

static int add_list(struct decoding *decoding, const recmap_example_part *part) {
    if (!decoding->lists) decoding->lists = PyDict_New();
    if (!decoding->lists) return 0;
    decoding->steps = PyList_New(0);
    return add_item(decoding->lists, part, decoding->steps);
}

static int add_step(struct decoding *decoding, const recmap_example_part *part) {
    PyObject *value = value_of(part);
    int failed = !value || PyList_Append(decoding->steps, value) < 0;
    Py_XDECREF(value);
    return !failed;
}

/* A recmap_example_visit_fn. CANCELLED with an exception set if one was raised. */
static recmap_status add_part(const recmap_example_part *part, void *context) {
    struct decoding *decoding = context;
    int added = 0;
    switch (part->kind) {
    case RECMAP_EXAMPLE_PART_FEATURE:
        added = add_item(decoding->features, part, value_of(part));
        break;
    case RECMAP_EXAMPLE_PART_LIST: added = add_list(decoding, part); break;
    case RECMAP_EXAMPLE_PART_STEP: added = add_step(decoding, part); break;
    }
    return added ? RECMAP_OK : RECMAP_CANCELLED;
}

/* example_decode(record) -> ({name: value}, {name: [value]} or None). A value is (dtype,
 * bytearray), a list of bytes, or None if the feature is unset. */
PyObject *example_decode(PyObject *module, PyObject *record) {
    (void)module;
    Py_buffer buffer;
    if (PyObject_GetBuffer(record, &buffer, PyBUF_C_CONTIGUOUS) < 0) return NULL;
    struct decoding decoding = {.features = PyDict_New()};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_CANCELLED;
    if (decoding.features) status = recmap_example_check(buffer.buf, (size_t)buffer.len, &error);
    if (decoding.features && status == RECMAP_OK)
        status = recmap_example_visit(add_part, &decoding, buffer.buf, (size_t)buffer.len, &error);
    PyBuffer_Release(&buffer);
    PyObject *result = NULL;
    if (status == RECMAP_OK)
        result = PyTuple_Pack(2, decoding.features, decoding.lists ? decoding.lists : Py_None);
    else raise_error(&error);
    Py_XDECREF(decoding.features);
    Py_XDECREF(decoding.lists);
    return result;
}
