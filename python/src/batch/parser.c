#include "batch/parser.h"

#include "base/errors.h"
#include "base/module.h"
#include "batch/feature_rows.h"
#include "batch/message.h"

/* ("csv", delimiter, whether there are quotes, na, separator, header or None, its file or None) or
 * ("json",): how records are written that are not tf.Examples */
static recmap_status create_text(recmap_parser **parser, const recmap_feature *features,
                                 size_t count, PyObject *reader, recmap_error *error) {
    recmap_csv_options options = RECMAP_CSV_OPTIONS_INIT;
    const char *kind, *delimiter, *separator;
    int has_quotes;
    Py_ssize_t header_size = 0, file_size = 0;
    if (PyTuple_Size(reader) == 1) return recmap_parser_create_json(parser, features, count, error);
    if (!PyArg_ParseTuple(reader, "sspssz#z#", &kind, &delimiter, &has_quotes, &options.na,
                          &separator, &options.header, &header_size, &options.header_file,
                          &file_size))
        return RECMAP_INVALID;
    options.delimiter = delimiter[0];
    options.separator = separator[0];
    options.no_quotes = !has_quotes;
    options.header_size = (size_t)header_size;
    return recmap_parser_create_csv(parser, features, count, &options, error);
}

/* The parser of records that are not tf.Examples: messages of a MessageType, or text. */
static recmap_status create_other(recmap_parser **parser, const recmap_feature *features,
                                  size_t count, PyObject *reader, recmap_error *error) {
    recmap_message_type *message_type;
    if (PyTuple_Check(reader)) return create_text(parser, features, count, reader, error);
    if (!take_message_type(reader, &message_type)) return RECMAP_INVALID;
    return recmap_parser_create_message(parser, message_type, features, count, error);
}

static recmap_parser *make(PyObject *context, PyObject *lists, PyObject *reader,
                           struct feature_memory *memory) {
    size_t context_count, list_count = 0;
    recmap_feature *context_features = feature_rows_read(&context_count, context, memory);
    if (!context_features) return NULL;
    recmap_feature *list_features =
        lists == Py_None ? NULL : feature_rows_read(&list_count, lists, memory);
    if (!list_features && lists != Py_None) return NULL;
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        reader != Py_None ? create_other(&parser, context_features, context_count, reader, &error)
        : list_features   ? recmap_parser_create_sequence(&parser, context_features, context_count,
                                                          list_features, list_count, &error)
                          : recmap_parser_create(&parser, context_features, context_count, &error);
    if (status != RECMAP_OK && !PyErr_Occurred()) raise_error(&error);
    return parser;
}

/* Parser(features, feature lists or None, reader or None): tuples of rows, see feature_rows_read,
 * and create_other */
static PyObject *parser_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)keywords;
    PyObject *context, *lists, *reader = Py_None;
    if (!PyArg_ParseTuple(arguments, "O!O|O:Parser", &PyTuple_Type, &context, &lists, &reader))
        return NULL;
    struct feature_memory memory = {NULL, 0};
    recmap_parser *parser = make(context, lists, reader, &memory);
    feature_memory_deinit(&memory);
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
