#include "dataset/batches.h"

#include "base/arguments.h"
#include "base/module.h"
#include "batch/batch.h"
#include "batch/parser.h"
#include "dataset/dataset.h"
#include "order/order.h"

/* (seed, epoch, positions or None, numbers or None, repeats) or None */
struct draws_view {
    recmap_draws draws;
    struct array_view positions, numbers;
};

#define DRAWS_VIEW_INIT                                                                            \
    { .positions = ARRAY_VIEW_INIT, .numbers = ARRAY_VIEW_INIT }

/* Takes one value for each record, or None. */
static int take_values(struct array_view *view, PyObject *values, size_t count, const char *name) {
    if (values == Py_None) return 1;
    if (!take_array(values, view)) return 0;
    if (view->count == count) return 1;
    PyErr_Format(PyExc_ValueError, "there must be as many %s as records: %zu, not %zu", name, count,
                 view->count);
    return 0;
}

static int take_draws(struct draws_view *view, PyObject *tuple, size_t count) {
    PyObject *positions, *numbers;
    if (tuple == Py_None) return 1;
    if (!PyArg_ParseTuple(tuple, "O&O&OOp:draws", take_uint64, &view->draws.seed, take_uint64,
                          &view->draws.epoch, &positions, &numbers, &view->draws.repeats) ||
        !take_values(&view->positions, positions, count, "positions") ||
        !take_values(&view->numbers, numbers, count, "numbers of draws"))
        return 0;
    if (positions != Py_None) view->draws.positions = view->positions.data;
    if (numbers != Py_None) view->draws.numbers = view->numbers.data;
    return 1;
}

/* Reads the records, and parses them if there is a parser. Releases the array of numbers. */
static PyObject *gather(PyObject *object, struct array_view *numbers, recmap_parser *parser,
                        recmap_parse_mode mode, unsigned threads, PyObject *draws) {
    struct draws_view view = DRAWS_VIEW_INIT;
    struct handle_object *handle = NULL;
    if (take_draws(&view, draws, numbers->count))
        handle = dataset_handle((struct dataset_object *)object);
    PyObject *batch = handle ? batch_gather(handle, numbers->data, numbers->count, parser, mode,
                                            threads, draws == Py_None ? NULL : &view.draws)
                             : NULL;
    handle_release(handle);
    array_release(numbers);
    array_release(&view.positions);
    array_release(&view.numbers);
    return batch;
}

PyObject *dataset_gather(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    unsigned threads;
    PyObject *draws = Py_None;
    if (!PyArg_ParseTuple(arguments, "O&O&|O:_gather", take_array, &numbers, take_unsigned,
                          &threads, &draws))
        return NULL;
    return gather(object, &numbers, NULL, RECMAP_PARSE_RAISE, threads, draws);
}

PyObject *dataset_parse(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    recmap_parser *parser;
    int collect;
    unsigned threads;
    PyObject *draws = Py_None;
    if (!PyArg_ParseTuple(arguments, "O&O&pO&|O:_parse", take_parser, &parser, take_array, &numbers,
                          &collect, take_unsigned, &threads, &draws))
        return NULL;
    recmap_parse_mode mode = collect ? RECMAP_PARSE_COLLECT : RECMAP_PARSE_RAISE;
    return gather(object, &numbers, parser, mode, threads, draws);
}

PyObject *dataset_rows(PyObject *object, PyObject *arguments) {
    struct array_view positions = ARRAY_VIEW_INIT;
    recmap_parser *parser;
    PyObject *order;
    uint64_t epoch;
    PyObject *seed = Py_None;
    recmap_draws draws = {.positions = NULL};
    if (!PyArg_ParseTuple(arguments, "O&O!O&O&|O:_rows", take_parser, &parser, order_type, &order,
                          take_uint64, &epoch, take_array, &positions, &seed))
        return NULL;
    int has_draws = seed != Py_None;
    draws.epoch = epoch;
    struct handle_object *handle = NULL;
    if (!has_draws || take_uint64(seed, &draws.seed))
        handle = dataset_handle((struct dataset_object *)object);
    PyObject *batch = handle
                          ? batch_cut(handle, ((struct order_object *)order)->order, parser, epoch,
                                      positions.data, positions.count, has_draws ? &draws : NULL)
                          : NULL;
    handle_release(handle);
    array_release(&positions);
    return batch;
}
