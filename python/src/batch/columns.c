/* Describes the columns of a batch: numbers as buffers that NumPy converts to arrays, bytes as
 * views. All of them keep the batch alive. */
#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/view.h"
#include "batch/batch.h"

enum { DIMENSIONS_MAX = 32 };

/* ---- Memory of the batch as a buffer with a shape. */

struct buffer_object {
    PyObject_HEAD
    PyObject *owner;
    const void *data;
    const char *format;
    int dimension_count;
    int is_strided; /* not in C order */
    Py_ssize_t item_size, size;
    Py_ssize_t shape[DIMENSIONS_MAX], strides[DIMENSIONS_MAX];
};

static int get_buffer(PyObject *object, Py_buffer *view, int flags) {
    struct buffer_object *self = (struct buffer_object *)object;
    const int contiguous = PyBUF_C_CONTIGUOUS & ~PyBUF_STRIDES;
    if (self->is_strided && ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || flags & contiguous)) {
        PyErr_SetString(PyExc_BufferError, "the column is not in C order");
        view->obj = NULL;
        return -1;
    }
    Py_INCREF(object);
    *view = (Py_buffer){
        .buf = (void *)self->data,
        .obj = object,
        .len = self->size,
        .itemsize = self->item_size,
        .ndim = self->dimension_count,
        .format = flags & PyBUF_FORMAT ? (char *)self->format : NULL,
        .shape = flags & PyBUF_ND ? self->shape : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL,
    };
    return 0;
}

static void buffer_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(((struct buffer_object *)object)->owner);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyType_Slot buffer_slots[] = {
    {Py_tp_dealloc, buffer_dealloc},
    {Py_bf_getbuffer, get_buffer},
    {Py_tp_doc, "Memory of a column."},
    {0, NULL},
};

PyType_Spec buffer_spec = {
    .name = "recmap._recmap.Buffer",
    .basicsize = sizeof(struct buffer_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = buffer_slots,
};

/* The format of PEP 3118, with the letters that NumPy uses. A bfloat16 is given as its bits. */
static const char *format_of(recmap_element element) {
    static const char *const formats[] = {
        [RECMAP_ELEMENT_INT64] = sizeof(long) == 8 ? "l" : "q",
        [RECMAP_ELEMENT_FLOAT32] = "f",
        [RECMAP_ELEMENT_INT32] = "i",
        [RECMAP_ELEMENT_INT16] = "h",
        [RECMAP_ELEMENT_INT8] = "b",
        [RECMAP_ELEMENT_UINT64] = sizeof(long) == 8 ? "L" : "Q",
        [RECMAP_ELEMENT_UINT32] = "I",
        [RECMAP_ELEMENT_UINT16] = "H",
        [RECMAP_ELEMENT_UINT8] = "B",
        [RECMAP_ELEMENT_BOOL] = "?",
        [RECMAP_ELEMENT_FLOAT16] = "e",
        [RECMAP_ELEMENT_BFLOAT16] = "H",
        [RECMAP_ELEMENT_FLOAT64] = "d",
    };
    return (size_t)element < sizeof formats / sizeof *formats ? formats[element] : NULL;
}

/* Returns None if there is no memory: `data` is NULL, but the shape is not empty. */
static PyObject *buffer_create(PyObject *owner, const void *data, recmap_element element,
                               const uint64_t *shape, size_t dimension_count) {
    static const uint64_t nothing[1];
    uint64_t count = 1;
    for (size_t i = 0; i < dimension_count; i++) count *= shape[i];
    if (!data && count) Py_RETURN_NONE;
    if (dimension_count > DIMENSIONS_MAX)
        return PyErr_Format(PyExc_ValueError,
                            "a column has %zu dimensions, but at most %d are supported",
                            dimension_count, DIMENSIONS_MAX);
    struct buffer_object *buffer = PyObject_New(struct buffer_object, buffer_type);
    if (!buffer) return NULL;
    Py_INCREF(owner);
    buffer->owner = owner;
    buffer->data = data ? data : nothing;
    buffer->format = format_of(element);
    buffer->item_size = (Py_ssize_t)recmap_element_size(element);
    buffer->size = (Py_ssize_t)count * buffer->item_size;
    buffer->dimension_count = (int)dimension_count;
    buffer->is_strided = 0;
    Py_ssize_t stride = buffer->item_size;
    for (size_t i = dimension_count; i-- > 0; stride *= (Py_ssize_t)shape[i]) {
        buffer->shape[i] = (Py_ssize_t)shape[i];
        buffer->strides[i] = stride;
    }
    return (PyObject *)buffer;
}

static PyObject *int64_buffer(PyObject *owner, const int64_t *data, uint64_t count) {
    if (!data) Py_RETURN_NONE;
    return buffer_create(owner, data, RECMAP_ELEMENT_INT64, &count, 1);
}

/* ---- Bytes as views. */

struct views_object {
    PyObject_HEAD
    PyObject *owner;
    const recmap_bytes *views;
    Py_ssize_t count;
};

static PyObject *views_create(PyObject *owner, const recmap_bytes *views, Py_ssize_t count) {
    struct views_object *object = PyObject_New(struct views_object, views_type);
    if (!object) return NULL;
    Py_INCREF(owner);
    object->owner = owner;
    object->views = views;
    object->count = count;
    return (PyObject *)object;
}

static Py_ssize_t views_length(PyObject *object) {
    return ((struct views_object *)object)->count;
}

static PyObject *views_item(PyObject *object, Py_ssize_t index) {
    struct views_object *self = (struct views_object *)object;
    if (index < 0 || index >= self->count)
        return PyErr_Format(OutOfRangeError, "value %zd is out of range: there are %zd values",
                            index, self->count);
    return view_create(object, self->views[index].data, self->views[index].size);
}

/* part(first, count): views of some of them */
static PyObject *views_part(PyObject *object, PyObject *arguments) {
    struct views_object *self = (struct views_object *)object;
    Py_ssize_t first, count;
    if (!PyArg_ParseTuple(arguments, "nn:part", &first, &count)) return NULL;
    if (first < 0 || count < 0 || first > self->count || count > self->count - first)
        return PyErr_Format(OutOfRangeError,
                            "values %zd to %zd are out of range: there are %zd values", first,
                            first + count, self->count);
    return views_create(self->owner, self->views + first, count);
}

/* tolist() -> [bytes] */
static PyObject *views_list(PyObject *object, PyObject *unused) {
    (void)unused;
    struct views_object *self = (struct views_object *)object;
    PyObject *list = PyList_New(self->count);
    for (Py_ssize_t i = 0; list && i < self->count; i++) {
        PyObject *value = PyBytes_FromStringAndSize((const char *)self->views[i].data,
                                                    (Py_ssize_t)self->views[i].size);
        if (!value) Py_CLEAR(list);
        else PyList_SetItem(list, i, value);
    }
    return list;
}

static void views_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(((struct views_object *)object)->owner);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyMethodDef views_methods[] = {
    {"part", views_part, METH_VARARGS, NULL},
    {"tolist", views_list, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot views_slots[] = {
    {Py_tp_dealloc, views_dealloc},
    {Py_tp_methods, views_methods},
    {Py_sq_item, views_item},
    {Py_sq_length, views_length},
    {Py_bf_getbuffer, view_get_buffer},
    {Py_tp_doc, "Bytes values, as views into the records."},
    {0, NULL},
};

PyType_Spec views_spec = {
    .name = "recmap._recmap.Views",
    .basicsize = sizeof(struct views_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = views_slots,
};

/* ---- A column as a tuple of its parts. */

static PyObject *numbers_of(const uint64_t *numbers, size_t count) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(numbers[i]);
        if (!number) Py_CLEAR(tuple);
        else PyTuple_SetItem(tuple, (Py_ssize_t)i, number);
    }
    return tuple;
}

static PyObject *offsets_of(PyObject *owner, const recmap_column *column) {
    PyObject *list = PyList_New((Py_ssize_t)column->offsets_count);
    uint64_t count = column->row_count + 1;
    for (size_t i = 0; list && i < column->offsets_count; i++) {
        PyObject *level = int64_buffer(owner, column->offsets[i], count);
        if (!level) {
            Py_CLEAR(list);
            break;
        }
        PyList_SetItem(list, (Py_ssize_t)i, level);
        count = (uint64_t)column->offsets[i][count - 1] + 1;
    }
    return list;
}

/* A column counts its strides in elements, a buffer in bytes. */
static void set_strides(PyObject *object, const int64_t *strides) {
    struct buffer_object *buffer = (struct buffer_object *)object;
    buffer->is_strided = 1;
    for (int i = 0; i < buffer->dimension_count; i++)
        buffer->strides[i] = (Py_ssize_t)strides[i] * buffer->item_size;
}

static PyObject *numbers_in_memory(PyObject *owner, const recmap_column *column) {
    PyObject *buffer = buffer_create(owner, column->values, column->element, column->shape,
                                     column->dimension_count);
    if (buffer && buffer != Py_None && column->strides) set_strides(buffer, column->strides);
    return buffer;
}

static PyObject *values_of(PyObject *owner, const recmap_column *column) {
    if (column->element != RECMAP_ELEMENT_BYTES) return numbers_in_memory(owner, column);
    if (!column->bytes_offsets)
        return views_create(owner, column->views, (Py_ssize_t)column->value_count);
    uint64_t size = (uint64_t)column->bytes_offsets[column->value_count];
    return buffer_create(owner, column->values, RECMAP_ELEMENT_UINT8, &size, 1);
}

static PyObject *validity_of(PyObject *owner, const recmap_column *column) {
    uint64_t size = (column->row_count + 7) / 8;
    if (!column->validity) Py_RETURN_NONE;
    return buffer_create(owner, column->validity, RECMAP_ELEMENT_UINT8, &size, 1);
}

/* (name, kind, element, rows, shape, values, bytes offsets, offsets, lengths, indices, dense shape,
 *  validity, picture shapes) */
static PyObject *describe(PyObject *owner, const recmap_column *column) {
    uint64_t indices[2] = {column->value_count, column->dense_dimension_count};
    uint64_t shapes[2] = {column->row_count, 3};
    PyObject *parts[] = {
        numbers_of(column->shape, column->dimension_count),
        values_of(owner, column),
        int64_buffer(owner, column->bytes_offsets, column->value_count + 1),
        offsets_of(owner, column),
        int64_buffer(owner, column->lengths, column->row_count),
        column->indices ? buffer_create(owner, column->indices, RECMAP_ELEMENT_INT64, indices, 2)
                        : Py_BuildValue(""),
        numbers_of(column->dense_shape, column->dense_dimension_count),
        validity_of(owner, column),
        column->picture_shapes
            ? buffer_create(owner, column->picture_shapes, RECMAP_ELEMENT_INT64, shapes, 2)
            : Py_BuildValue(""),
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    PyObject *row = NULL;
    int is_whole = 1;
    for (size_t i = 0; i < PARTS; i++) is_whole &= parts[i] != NULL;
    if (is_whole)
        row = Py_BuildValue("(sisKOOOOOOOOO)", column->name, (int)column->kind,
                            recmap_element_name(column->element),
                            (unsigned long long)column->row_count, parts[0], parts[1], parts[2],
                            parts[3], parts[4], parts[5], parts[6], parts[7], parts[8]);
    for (size_t i = 0; i < PARTS; i++) Py_XDECREF(parts[i]);
    return row;
}

/* _columns() -> [description of each column] */
PyObject *batch_describe_columns(PyObject *batch, PyObject *unused) {
    (void)unused;
    recmap_columns *columns = batch_columns((struct batch_object *)batch);
    if (!columns) return NULL;
    size_t count = recmap_columns_count(columns);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *row = describe(batch, recmap_columns_get(columns, i));
        if (!row) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, row);
    }
    return list;
}

/* Appends the indexes of the columns in which every row is null. Returns 0 with an exception. */
static int append_null_columns(PyObject *list, const recmap_columns *columns) {
    uint64_t row_count = recmap_columns_row_count(columns);
    /* Rows that failed are null in every column, and say nothing about the features. */
    if (recmap_columns_failure_count(columns) >= row_count) return 1;
    for (size_t i = 0; i < recmap_columns_count(columns); i++) {
        if (recmap_columns_get(columns, i)->null_count < row_count) continue;
        PyObject *index = PyLong_FromSize_t(i);
        int status = index ? PyList_Append(list, index) : -1;
        Py_XDECREF(index);
        if (status < 0) return 0;
    }
    return 1;
}

/* _null_columns() -> [index of a column in which every row is null]; [] if there are no rows */
PyObject *batch_null_columns(PyObject *batch, PyObject *unused) {
    (void)unused;
    recmap_columns *columns = batch_columns((struct batch_object *)batch);
    PyObject *list = columns ? PyList_New(0) : NULL;
    if (list && !append_null_columns(list, columns)) Py_CLEAR(list);
    return list;
}

/* _failures() -> [(row, number, offset or None, status, message)] */
PyObject *batch_failures(PyObject *batch, PyObject *unused) {
    (void)unused;
    recmap_columns *columns = batch_columns((struct batch_object *)batch);
    if (!columns) return NULL;
    size_t count = recmap_columns_failure_count(columns);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        recmap_failure failure = recmap_columns_failure(columns, i);
        PyObject *offset = failure.offset == RECMAP_NO_OFFSET
                               ? Py_BuildValue("")
                               : PyLong_FromUnsignedLongLong(failure.offset);
        PyObject *row = offset ? Py_BuildValue("(KKNss)", (unsigned long long)failure.row,
                                               (unsigned long long)failure.number, offset,
                                               recmap_status_name(failure.status), failure.message)
                               : NULL;
        if (!row) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, row);
    }
    return list;
}
