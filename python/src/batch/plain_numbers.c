#include "batch/plain_numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/critical.h"
#include "base/module.h"

#define EXACT_MAX 16777216.0 /* 2^24: the integers that a float holds */
#define ZEROED_MAX 0x1p-150  /* the largest number that becomes 0 */

static bool read_integer(int64_t *number, PyObject *item) {
    int overflow;
    if (!PyLong_CheckExact(item) && !PyBool_Check(item)) return false;
    *number = PyLong_AsLongLongAndOverflow(item, &overflow);
    return !overflow;
}

/* Returns 1 if no float is close to the number, and 0 if one is, or for NaN. It has no branches and
 * the width of a double, so that compilers vectorize loops. */
static int64_t is_far(double number) {
    double size = fabs(number);
    return (int64_t)(size > EXACT_MAX) | ((int64_t)(size <= ZEROED_MAX) & (int64_t)(size > 0));
}

static bool read_float(float *narrow, PyObject *item) {
    if (!PyFloat_CheckExact(item)) return false;
    double number = PyFloat_AsDouble(item);
    *narrow = (float)number;
    return !is_far(number);
}

/* Reads the items of a list or tuple, which must not change. All have the type of the first. */
static int read_items(struct plain_numbers *numbers, PyObject *value, bool is_list) {
    PyObject *(*item_at)(PyObject *, Py_ssize_t) = is_list ? PyList_GetItem : PyTuple_GetItem;
    Py_ssize_t count = is_list ? PyList_Size(value) : PyTuple_Size(value), i;
    if (!count) return 1;
    PyObject *first = item_at(value, 0);
    bool is_float = PyFloat_CheckExact(first);
    if (!is_float && !PyLong_CheckExact(first) && !PyBool_Check(first)) return 1;
    size_t size = is_float ? sizeof(float) : sizeof(int64_t);
    numbers->items.memory = malloc((size_t)count * size);
    if (!numbers->items.memory) {
        PyErr_NoMemory();
        return 0;
    }
    for (i = 0; i < count; i++)
        if (is_float ? !read_float(&numbers->items.floats[i], item_at(value, i))
                     : !read_integer(&numbers->items.integers[i], item_at(value, i)))
            return 1;
    numbers->count = (size_t)count;
    numbers->type = is_float ? RECMAP_TYPE_FLOAT : RECMAP_TYPE_INT64;
    return 1;
}

int plain_numbers_init(struct plain_numbers *numbers, PyObject *value) {
    bool is_list = PyList_CheckExact(value);
    numbers->type = RECMAP_TYPE_NONE;
    numbers->count = 1;
    numbers->items.memory = &numbers->one;
    if (is_list || PyTuple_CheckExact(value)) {
        int is_read;
        Py_BEGIN_CRITICAL_SECTION(value);
        is_read = read_items(numbers, value, is_list);
        Py_END_CRITICAL_SECTION();
        return is_read;
    }
    if (read_float(numbers->items.floats, value)) numbers->type = RECMAP_TYPE_FLOAT;
    else if (read_integer(numbers->items.integers, value)) numbers->type = RECMAP_TYPE_INT64;
    return 1;
}

void plain_numbers_deinit(struct plain_numbers *numbers) {
    if (numbers->items.memory != &numbers->one) free(numbers->items.memory);
}

/* narrow_floats(out, array): stores the doubles in the array of floats. Returns False if one of
 * them has no float that is close to it. */
PyObject *narrow_floats(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *target;
    struct array_view narrow = ARRAY_VIEW_INIT, array = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "OO&:narrow_floats", &target, take_array, &array)) return NULL;
    if (!take_array_of(target, &narrow, sizeof(float), PyBUF_WRITABLE)) {
        array_release(&array);
        return NULL;
    }
    const double *numbers = array.data;
    float *floats = narrow.data;
    size_t count = narrow.count < array.count ? narrow.count : array.count;
    int64_t far = narrow.count != array.count;
    for (size_t i = 0; i < count; i++) {
        floats[i] = (float)numbers[i];
        far |= is_far(numbers[i]);
    }
    array_release(&narrow);
    array_release(&array);
    return PyBool_FromLong(!far);
}
