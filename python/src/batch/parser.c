#include "batch/parser.h"

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "batch/image.h"

/* Memory that is freed once the parser is created. */
struct scratch {
    void **pieces;
    size_t count;
};

static void *scratch_take(struct scratch *memory, Py_ssize_t count, size_t size) {
    void **pieces = realloc(memory->pieces, (memory->count + 1) * sizeof *pieces);
    if (pieces) {
        memory->pieces = pieces;
        void *piece = calloc((size_t)count + 1, size);
        if (piece) return pieces[memory->count++] = piece;
    }
    PyErr_NoMemory();
    return NULL;
}

static void scratch_deinit(struct scratch *memory) {
    for (size_t i = 0; i < memory->count; i++) free(memory->pieces[i]);
    free(memory->pieces);
}

/* Each function reads one member of a feature, and returns 0 with an exception set if it fails.
 * Strings belong to the Python values, which the caller keeps alive. */

static int read_numbers(const uint64_t **numbers, size_t *count, PyObject *tuple,
                        struct scratch *memory) {
    Py_ssize_t size = PyTuple_Size(tuple);
    uint64_t *read = size < 0 ? NULL : scratch_take(memory, size, sizeof *read);
    if (!read) return 0;
    for (Py_ssize_t i = 0; i < size; i++)
        if (!take_uint64(PyTuple_GetItem(tuple, i), &read[i])) return 0;
    *numbers = read;
    *count = (size_t)size;
    return 1;
}

static int read_default(recmap_value *value, PyObject *object, recmap_type type) {
    if (type == RECMAP_TYPE_BYTES || type == RECMAP_TYPE_INT64) {
        if (!take_value(object, value)) return 0;
        if (value->type == type) return 1;
        PyErr_Format(PyExc_TypeError, "the default is %R, but must be %s", object,
                     type == RECMAP_TYPE_BYTES ? "bytes" : "an int");
        return 0;
    }
    value->type = RECMAP_TYPE_FLOAT;
    value->as.float32 = (float)PyFloat_AsDouble(object);
    return !PyErr_Occurred();
}

static recmap_type list_type(recmap_element element) {
    switch (element) {
    case RECMAP_ELEMENT_BYTES: return RECMAP_TYPE_BYTES;
    case RECMAP_ELEMENT_FLOAT16:
    case RECMAP_ELEMENT_BFLOAT16:
    case RECMAP_ELEMENT_FLOAT32:
    case RECMAP_ELEMENT_FLOAT64: return RECMAP_TYPE_FLOAT;
    default: return RECMAP_TYPE_INT64;
    }
}

/* Values of one type. */
static int read_values(const recmap_value **values, size_t *count, recmap_type type,
                       PyObject *tuple, struct scratch *memory) {
    Py_ssize_t size = PyTuple_Size(tuple);
    recmap_value *read = size < 0 ? NULL : scratch_take(memory, size, sizeof *read);
    if (!read) return 0;
    for (Py_ssize_t i = 0; i < size; i++)
        if (!read_default(&read[i], PyTuple_GetItem(tuple, i), type)) return 0;
    *values = size ? read : NULL;
    *count = (size_t)size;
    return 1;
}

/* ((kind, key or None, length), ...) */
static int read_partitions(recmap_feature *feature, PyObject *tuple, struct scratch *memory) {
    Py_ssize_t size = PyTuple_Size(tuple);
    recmap_partition *read = size < 0 ? NULL : scratch_take(memory, size, sizeof *read);
    if (!read) return 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        int kind;
        if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "izO&", &kind, &read[i].key, take_uint64,
                              &read[i].length))
            return 0;
        read[i].kind = (recmap_partition_kind)kind;
    }
    feature->partitions = read;
    feature->partition_count = (size_t)size;
    return 1;
}

static int read_index_keys(recmap_feature *feature, PyObject *tuple, struct scratch *memory) {
    Py_ssize_t size = PyTuple_Size(tuple);
    const char **keys = size < 0 ? NULL : scratch_take(memory, size, sizeof *keys);
    if (!keys) return 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        Py_ssize_t length;
        keys[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), &length);
        if (!keys[i]) return 0;
    }
    feature->index_keys = keys;
    return 1;
}

static int read_image(recmap_feature *feature, PyObject *image, struct scratch *memory) {
    if (image == Py_None) return 1;
    struct image_spec *spec = scratch_take(memory, 1, sizeof *spec);
    if (!spec || !take_image(spec, image)) return 0;
    feature->image = &spec->image;
    return 1;
}

/* (image, (ymin, xmin, ymax, xmax), is visible) */
static int read_boxes(recmap_feature *feature, PyObject *tuple, struct scratch *memory) {
    if (tuple == Py_None) return 1;
    recmap_boxes *boxes = scratch_take(memory, 1, sizeof *boxes);
    if (!boxes) return 0;
    feature->boxes = boxes;
    return PyArg_ParseTuple(tuple, "s(szzz)p", &boxes->image, &boxes->keys[0], &boxes->keys[1],
                            &boxes->keys[2], &boxes->keys[3], &boxes->is_visible);
}

/* (name, key or None, kind, element, copy, shape, raw, defaults, unpadded, partitions, index keys,
 *  sizes, already sorted, raw resize, prepend, append, pad edge, max length, pad to,
 *  image or None, boxes or None, as bits) */
static int read_feature(recmap_feature *feature, PyObject *row, struct scratch *memory) {
    int kind, copy;
    const char *element;
    PyObject *shape, *defaults, *partitions, *index_keys, *sizes, *prepend, *append, *image, *boxes;
    if (!PyArg_ParseTuple(row, "szispO!iO!pO!O!O!ppO!O!pO&O&OOp", &feature->name, &feature->key,
                          &kind, &element, &copy, &PyTuple_Type, &shape, &feature->raw,
                          &PyTuple_Type, &defaults, &feature->unpadded, &PyTuple_Type, &partitions,
                          &PyTuple_Type, &index_keys, &PyTuple_Type, &sizes,
                          &feature->already_sorted, &feature->raw_resize, &PyTuple_Type, &prepend,
                          &PyTuple_Type, &append, &feature->pad_edge, take_uint64,
                          &feature->max_length, take_uint64, &feature->pad_to, &image, &boxes,
                          &feature->as_bits))
        return 0;
    feature->kind = (recmap_feature_kind)kind;
    feature->element = recmap_element_of_name(element);
    feature->bytes_mode = copy ? RECMAP_BYTES_COPY : RECMAP_BYTES_VIEW;
    recmap_type type = feature->kind == RECMAP_FEATURE_IMAGE ? RECMAP_TYPE_INT64
                                                             : list_type(feature->element);
    return read_numbers(&feature->shape, &feature->dimension_count, shape, memory) &&
           read_values(&feature->defaults, &feature->default_count, type, defaults, memory) &&
           read_values(&feature->prepend, &feature->prepend_count, type, prepend, memory) &&
           read_values(&feature->append, &feature->append_count, type, append, memory) &&
           read_image(feature, image, memory) && read_boxes(feature, boxes, memory) &&
           read_partitions(feature, partitions, memory) &&
           read_index_keys(feature, index_keys, memory) &&
           read_numbers(&feature->sizes, &feature->index_count, sizes, memory);
}

static recmap_feature *read_features(size_t *count, PyObject *rows, struct scratch *memory) {
    Py_ssize_t size = PyTuple_Size(rows);
    recmap_feature *features = size < 0 ? NULL : scratch_take(memory, size, sizeof *features);
    for (Py_ssize_t i = 0; features && i < size; i++)
        if (!read_feature(&features[i], PyTuple_GetItem(rows, i), memory)) return NULL;
    *count = (size_t)size;
    return features;
}

/* ("csv", delimiter, whether there are quotes, na, separator, header or None) or ("json",): how
 * records are written that are not tf.Examples */
static recmap_status create_text(recmap_parser **parser, const recmap_feature *features,
                                 size_t count, PyObject *source, recmap_error *error) {
    recmap_csv_options options = RECMAP_CSV_OPTIONS_INIT;
    const char *kind, *delimiter, *separator;
    int has_quotes;
    Py_ssize_t header_size = 0;
    if (PyTuple_Size(source) == 1) return recmap_parser_create_json(parser, features, count, error);
    if (!PyArg_ParseTuple(source, "sspssz#", &kind, &delimiter, &has_quotes, &options.na,
                          &separator, &options.header, &header_size))
        return RECMAP_INVALID;
    options.delimiter = delimiter[0];
    options.separator = separator[0];
    options.no_quotes = !has_quotes;
    options.header_size = (size_t)header_size;
    return recmap_parser_create_csv(parser, features, count, &options, error);
}

static recmap_parser *make(PyObject *context, PyObject *lists, PyObject *source,
                           struct scratch *memory) {
    size_t context_count, list_count = 0;
    recmap_feature *context_features = read_features(&context_count, context, memory);
    if (!context_features) return NULL;
    recmap_feature *list_features = lists == Py_None ? NULL
                                                     : read_features(&list_count, lists, memory);
    if (!list_features && lists != Py_None) return NULL;
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        source != Py_None ? create_text(&parser, context_features, context_count, source, &error)
        : list_features   ? recmap_parser_create_sequence(&parser, context_features, context_count,
                                                          list_features, list_count, &error)
                          : recmap_parser_create(&parser, context_features, context_count, &error);
    if (status != RECMAP_OK && !PyErr_Occurred()) raise_error(&error);
    return parser;
}

/* Parser(features, feature lists or None, source or None): tuples of rows, see read_feature, and
 * create_text */
static PyObject *parser_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)keywords;
    PyObject *context, *lists, *source = Py_None;
    if (!PyArg_ParseTuple(arguments, "O!O|O:Parser", &PyTuple_Type, &context, &lists, &source))
        return NULL;
    struct scratch memory = {NULL, 0};
    recmap_parser *parser = make(context, lists, source, &memory);
    scratch_deinit(&memory);
    if (!parser) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct parser_object *self = (struct parser_object *)allocate(type, 0);
    if (self) self->parser = parser;
    else recmap_parser_release(parser);
    return (PyObject *)self;
}

int take_parser(PyObject *object, void *parser) {
    if (object == Py_None) {
        *(recmap_parser **)parser = NULL;
        return 1;
    }
    if (!PyObject_TypeCheck(object, parser_type)) {
        PyErr_SetString(PyExc_TypeError, "a recmap._recmap.Parser is needed");
        return 0;
    }
    *(recmap_parser **)parser = ((struct parser_object *)object)->parser;
    return 1;
}

static PyObject *context_count(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromSize_t(recmap_parser_context_count(((struct parser_object *)object)->parser));
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    recmap_parser_release(((struct parser_object *)object)->parser);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"context_count", context_count, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, parser_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Compiled features."},
    {0, NULL},
};

PyType_Spec parser_spec = {
    .name = "recmap._recmap.Parser",
    .basicsize = sizeof(struct parser_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
