#include "batch/feature_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "batch/image.h"

static void *take_piece(struct feature_memory *memory, Py_ssize_t count, size_t size) {
    void **pieces = realloc(memory->pieces, (memory->count + 1) * sizeof *pieces);
    if (pieces) {
        memory->pieces = pieces;
        void *piece = calloc((size_t)count + 1, size);
        if (piece) return pieces[memory->count++] = piece;
    }
    PyErr_NoMemory();
    return NULL;
}

void feature_memory_deinit(struct feature_memory *memory) {
    for (size_t i = 0; i < memory->count; i++) free(memory->pieces[i]);
    free(memory->pieces);
}

/* Each function reads one member of a feature, and returns 0 with an exception set if it fails.
 * Strings belong to the Python values, which the caller keeps alive. */

static int read_numbers(const uint64_t **numbers, size_t *count, PyObject *tuple,
                        struct feature_memory *memory) {
    Py_ssize_t size = PyTuple_Size(tuple);
    uint64_t *read = size < 0 ? NULL : take_piece(memory, size, sizeof *read);
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
                       PyObject *tuple, struct feature_memory *memory) {
    Py_ssize_t size = PyTuple_Size(tuple);
    recmap_value *read = size < 0 ? NULL : take_piece(memory, size, sizeof *read);
    if (!read) return 0;
    for (Py_ssize_t i = 0; i < size; i++)
        if (!read_default(&read[i], PyTuple_GetItem(tuple, i), type)) return 0;
    *values = size ? read : NULL;
    *count = (size_t)size;
    return 1;
}

/* ((kind, key or None, length), ...) */
static int read_partitions(recmap_feature *feature, PyObject *tuple,
                           struct feature_memory *memory) {
    Py_ssize_t size = PyTuple_Size(tuple);
    recmap_partition *read = size < 0 ? NULL : take_piece(memory, size, sizeof *read);
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

static int read_index_keys(recmap_feature *feature, PyObject *tuple,
                           struct feature_memory *memory) {
    Py_ssize_t size = PyTuple_Size(tuple);
    const char **keys = size < 0 ? NULL : take_piece(memory, size, sizeof *keys);
    if (!keys) return 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        Py_ssize_t length;
        keys[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), &length);
        if (!keys[i]) return 0;
    }
    feature->index_keys = keys;
    return 1;
}

static int read_image(recmap_feature *feature, PyObject *image, struct feature_memory *memory) {
    if (image == Py_None) return 1;
    struct image_spec *spec = take_piece(memory, 1, sizeof *spec);
    if (!spec || !take_image(spec, image)) return 0;
    feature->image = &spec->image;
    return 1;
}

/* (image, (ymin, xmin, ymax, xmax), is visible) */
static int read_boxes(recmap_feature *feature, PyObject *tuple, struct feature_memory *memory) {
    if (tuple == Py_None) return 1;
    recmap_boxes *boxes = take_piece(memory, 1, sizeof *boxes);
    if (!boxes) return 0;
    feature->boxes = boxes;
    return PyArg_ParseTuple(tuple, "s(szzz)p", &boxes->image, &boxes->keys[0], &boxes->keys[1],
                            &boxes->keys[2], &boxes->keys[3], &boxes->is_visible);
}

/* (name, key or None, kind, element, copy, shape, raw, defaults, unpadded, partitions, index keys,
 *  sizes, already sorted, raw resize, prepend, append, pad edge, max length, pad to,
 *  image or None, boxes or None, as bits) */
static int read_feature(recmap_feature *feature, PyObject *row, struct feature_memory *memory) {
    int kind, copy;
    const char *element;
    PyObject *shape, *defaults, *partitions, *index_keys, *sizes, *prepend, *append, *image, *boxes;
    if (!PyArg_ParseTuple(
            row, "szispO!iO!pO!O!O!ppO!O!pO&O&OOp", &feature->name, &feature->key, &kind, &element,
            &copy, &PyTuple_Type, &shape, &feature->raw, &PyTuple_Type, &defaults,
            &feature->unpadded, &PyTuple_Type, &partitions, &PyTuple_Type, &index_keys,
            &PyTuple_Type, &sizes, &feature->already_sorted, &feature->raw_resize, &PyTuple_Type,
            &prepend, &PyTuple_Type, &append, &feature->pad_edge, take_uint64, &feature->max_length,
            take_uint64, &feature->pad_to, &image, &boxes, &feature->as_bits))
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

recmap_feature *feature_rows_read(size_t *count, PyObject *rows, struct feature_memory *memory) {
    Py_ssize_t size = PyTuple_Size(rows);
    recmap_feature *features = size < 0 ? NULL : take_piece(memory, size, sizeof *features);
    for (Py_ssize_t i = 0; features && i < size; i++)
        if (!read_feature(&features[i], PyTuple_GetItem(rows, i), memory)) return NULL;
    *count = (size_t)size;
    return features;
}
