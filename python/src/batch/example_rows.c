#include "batch/example_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/errors.h"

/* A column whose arrays are held. */
struct row_column {
    const char *name;
    int kind;  /* 'i', 'f' or 'b' */
    int depth; /* of the lists around a value */
    struct array_view valid, starts, steps, values, ends;
};

struct row_columns {
    struct row_column *columns;
    size_t count;
    recmap_bytes *bytes; /* room for the values of one list */
    size_t bytes_capacity;
};

static void row_columns_deinit(struct row_columns *columns) {
    for (size_t i = 0; i < columns->count; i++) {
        struct row_column *column = &columns->columns[i];
        array_release(&column->valid);
        array_release(&column->starts);
        array_release(&column->steps);
        array_release(&column->values);
        array_release(&column->ends);
    }
    free(columns->columns);
    free(columns->bytes);
}

/* Takes an array whose items have one of the formats, each a letter of Python's `struct`. */
static int take_items(PyObject *object, struct array_view *array, size_t item_size,
                      const char *formats) {
    if (!take_array_of(object, array, item_size, PyBUF_FORMAT)) return 0;
    const char *format = array->buffer.format;
    if (format && *format == '=') format++; /* of an array that was not aligned */
    if (format && strlen(format) == 1 && strchr(formats, *format)) return 1;
    PyErr_Format(PyExc_TypeError, "the array has items of the format '%s', not one of '%s'",
                 format ? format : "B", formats);
    return 0;
}

static int take_int64s(PyObject *object, struct array_view *array) {
    return take_items(object, array, sizeof(int64_t), "lq");
}

static int take_lists(struct row_column *column, PyObject *lists) {
    if (lists == Py_None) return 1;
    PyObject *starts, *steps = NULL;
    if (!PyArg_ParseTuple(lists, "O|O:lists", &starts, &steps)) return 0;
    column->depth = steps ? 2 : 1;
    return take_int64s(starts, &column->starts) && (!steps || take_int64s(steps, &column->steps));
}

static int take_values(struct row_column *column, PyObject *values, PyObject *ends) {
    switch (column->kind) {
    case 'i': return take_int64s(values, &column->values);
    case 'f': return take_items(values, &column->values, sizeof(float), "f");
    case 'b':
        return take_array_of(values, &column->values, 1, PyBUF_SIMPLE) &&
               take_int64s(ends, &column->ends);
    default:
        PyErr_Format(PyExc_ValueError, "column '%s': the kind must be i, f or b", column->name);
        return 0;
    }
}

static size_t value_count(const struct row_column *column) {
    if (column->kind != 'b') return column->values.count;
    return column->ends.count ? column->ends.count - 1 : 0;
}

static const int64_t *numbers_of(const struct array_view *array) {
    return array->data;
}

/* Returns true if `offsets` divide `total` items into `count` parts. */
static int is_division(const struct array_view *offsets, size_t count, size_t total) {
    const int64_t *numbers = numbers_of(offsets);
    if (offsets->count != count + 1 || numbers[0] < 0) return 0;
    for (size_t i = 0; i < count; i++)
        if (numbers[i] > numbers[i + 1]) return 0;
    return (uint64_t)numbers[count] <= total;
}

/* Checks that there are as many rows, and that no offset leads out of an array. */
static int check_column(const struct row_column *column, size_t rows) {
    size_t values = value_count(column);
    const struct array_view *inner = column->depth == 2 ? &column->steps : &column->starts;
    size_t lists = column->depth == 2 && column->steps.count ? column->steps.count - 1 : rows;
    int is_good = column->depth == 0 ? values == rows : is_division(inner, lists, values);
    is_good = is_good && column->valid.count == rows;
    if (column->depth == 2) is_good = is_good && is_division(&column->starts, rows, lists);
    if (column->kind == 'b')
        is_good = is_good && is_division(&column->ends, values, column->values.count);
    if (!is_good) PyErr_Format(PyExc_ValueError, "column '%s': wrong offsets", column->name);
    return is_good;
}

static int take_column(struct row_column *column, PyObject *tuple, size_t rows) {
    static const struct array_view none = ARRAY_VIEW_INIT;
    PyObject *valid, *lists, *values, *ends;
    column->valid = column->starts = column->steps = column->values = column->ends = none;
    return PyArg_ParseTuple(tuple, "sCOOOO:column", &column->name, &column->kind, &valid, &lists,
                            &values, &ends) &&
           take_array_of(valid, &column->valid, 1, PyBUF_SIMPLE) && take_lists(column, lists) &&
           take_values(column, values, ends) && check_column(column, rows);
}

static int take_columns(struct row_columns *columns, PyObject *list, size_t rows) {
    Py_ssize_t count = PyList_Size(list);
    columns->columns = calloc((size_t)count + 1, sizeof *columns->columns);
    if (!columns->columns) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!take_column(&columns->columns[columns->count++], PyList_GetItem(list, i), rows))
            return 0;
    return 1;
}

static recmap_status add_bytes(recmap_example_builder *builder, struct row_columns *columns,
                               const struct row_column *column, size_t first, size_t end,
                               recmap_error *error) {
    if (columns->bytes_capacity < end - first) {
        size_t capacity = 2 * (end - first);
        recmap_bytes *grown = realloc(columns->bytes, capacity * sizeof *grown);
        if (!grown) return RECMAP_NO_MEMORY;
        columns->bytes = grown;
        columns->bytes_capacity = capacity;
    }
    const int64_t *ends = numbers_of(&column->ends);
    const uint8_t *data = column->values.data;
    for (size_t i = first; i < end; i++)
        columns->bytes[i - first] = (recmap_bytes){data + ends[i], (size_t)(ends[i + 1] - ends[i])};
    return recmap_example_builder_add_bytes(builder, column->name, columns->bytes, end - first,
                                            error);
}

static recmap_status add_values(recmap_example_builder *builder, struct row_columns *columns,
                                const struct row_column *column, size_t first, size_t end,
                                recmap_error *error) {
    size_t count = end - first;
    switch (column->kind) {
    case 'i':
        return recmap_example_builder_add_int64(
            builder, column->name, (const int64_t *)column->values.data + first, count, error);
    case 'f':
        return recmap_example_builder_add_float(
            builder, column->name, (const float *)column->values.data + first, count, error);
    default: return add_bytes(builder, columns, column, first, end, error);
    }
}

static recmap_status add_list(recmap_example_builder *builder, struct row_columns *columns,
                              const struct row_column *column, size_t row, recmap_error *error) {
    const int64_t *starts = numbers_of(&column->starts), *steps = numbers_of(&column->steps);
    recmap_status status = recmap_example_builder_begin_list(builder, column->name, error);
    for (int64_t step = starts[row]; step < starts[row + 1] && status == RECMAP_OK; step++)
        status = add_values(builder, columns, column, (size_t)steps[step], (size_t)steps[step + 1],
                            error);
    recmap_example_builder_end_list(builder);
    return status;
}

static recmap_status add_cell(recmap_example_builder *builder, struct row_columns *columns,
                              const struct row_column *column, size_t row, recmap_error *error) {
    const int64_t *starts = numbers_of(&column->starts);
    if (!((const uint8_t *)column->valid.data)[row]) return RECMAP_OK;
    if (column->depth == 0) return add_values(builder, columns, column, row, row + 1, error);
    if (column->depth == 2) return add_list(builder, columns, column, row, error);
    return add_values(builder, columns, column, (size_t)starts[row], (size_t)starts[row + 1],
                      error);
}

/* A new bytes object, or NULL with an exception. */
static PyObject *encode_row(recmap_example_builder *builder, recmap_message message,
                            struct row_columns *columns, size_t row) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    const uint8_t *data;
    size_t size;
    recmap_example_builder_begin(builder, message);
    for (size_t i = 0; i < columns->count && status == RECMAP_OK; i++)
        status = add_cell(builder, columns, &columns->columns[i], row, &error);
    if (status == RECMAP_OK) status = recmap_example_builder_finish(&data, &size, builder, &error);
    if (status == RECMAP_NO_MEMORY) return PyErr_NoMemory();
    return status == RECMAP_OK ? PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)size)
                               : raise_error(&error);
}

static PyObject *encode_all(recmap_example_builder *builder, recmap_message message,
                            struct row_columns *columns, size_t count) {
    PyObject *records = PyList_New((Py_ssize_t)count);
    for (size_t row = 0; records && row < count; row++) {
        PyObject *record = encode_row(builder, message, columns, row);
        if (record && PyList_SetItem(records, (Py_ssize_t)row, record) == 0) continue;
        Py_CLEAR(records);
    }
    return records;
}

PyObject *encode_rows(recmap_example_builder *builder, PyObject *arguments) {
    int message;
    PyObject *list, *records = NULL;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(arguments, "iO!n:encode_rows", &message, &PyList_Type, &list, &count))
        return NULL;
    if (message != RECMAP_MESSAGE_EXAMPLE && message != RECMAP_MESSAGE_SEQUENCE_EXAMPLE)
        return PyErr_Format(PyExc_ValueError, "invalid message: %d", message);
    if (count < 0) return PyErr_Format(PyExc_ValueError, "invalid number of rows: %zd", count);
    struct row_columns columns = {NULL, 0, NULL, 0};
    if (take_columns(&columns, list, (size_t)count))
        records = encode_all(builder, (recmap_message)message, &columns, (size_t)count);
    row_columns_deinit(&columns);
    return records;
}
