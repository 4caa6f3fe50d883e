#include "order/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/signals.h"
#include "base/text.h"
#include "order/row_order.h"

PyObject *order_wrap(recmap_status status, recmap_order *order, const recmap_error *error) {
    if (status != RECMAP_OK) return raise_error(error);
    struct order_object *object = PyObject_New(struct order_object, order_type);
    if (object) object->order = order;
    else recmap_order_release(order);
    return (PyObject *)object;
}

static recmap_order *order_of(PyObject *object) {
    return ((struct order_object *)object)->order;
}

/* ---- Kinds: static methods, each with the arguments of its C function. */

static PyObject *sequential(PyObject *unused, PyObject *arguments) {
    (void)unused;
    uint64_t n;
    if (!PyArg_ParseTuple(arguments, "O&:sequential", take_uint64, &n)) return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_order_sequential(&order, n, &error);
    return order_wrap(status, order, &error);
}

static PyObject *shuffled(PyObject *unused, PyObject *arguments) {
    (void)unused;
    uint64_t n, seed;
    if (!PyArg_ParseTuple(arguments, "O&O&:shuffled", take_uint64, &n, take_uint64, &seed))
        return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_order_shuffled(&order, n, seed, &error);
    return order_wrap(status, order, &error);
}

static PyObject *windowed(PyObject *unused, PyObject *arguments) {
    (void)unused;
    uint64_t n, block, window, seed;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&:windowed", take_uint64, &n, take_uint64, &block,
                          take_uint64, &window, take_uint64, &seed))
        return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_order_windowed(&order, n, block, window, seed, &error);
    return order_wrap(status, order, &error);
}

static PyObject *with_replacement(PyObject *unused, PyObject *arguments) {
    (void)unused;
    uint64_t n, seed, size;
    if (!PyArg_ParseTuple(arguments, "O&O&O&:with_replacement", take_uint64, &n, take_uint64, &seed,
                          take_uint64, &size))
        return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_order_with_replacement(&order, n, seed, size, &error);
    return order_wrap(status, order, &error);
}

static PyObject *weighted(PyObject *unused, PyObject *arguments) {
    (void)unused;
    struct array_view weights = ARRAY_VIEW_INIT;
    uint64_t seed, size;
    if (!PyArg_ParseTuple(arguments, "O&O&O&:weighted", take_array, &weights, take_uint64, &seed,
                          take_uint64, &size))
        return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_order_weighted(&order, weights.data, weights.count, seed, size, &error);
    signals_stop(&check);
    array_release(&weights);
    return order_wrap(status, order, &error);
}

typedef recmap_status (*labels_fn)(recmap_order **order, const int64_t *labels, size_t n,
                                   uint64_t batch_size, uint64_t seed, recmap_error *error);

static PyObject *of_labels(PyObject *arguments, labels_fn make) {
    struct array_view labels = ARRAY_VIEW_INIT;
    uint64_t batch_size, seed;
    if (!PyArg_ParseTuple(arguments, "O&O&O&", take_array, &labels, take_uint64, &batch_size,
                          take_uint64, &seed))
        return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = make(&order, labels.data, labels.count, batch_size, seed, &error);
    signals_stop(&check);
    array_release(&labels);
    return order_wrap(status, order, &error);
}

static PyObject *grouped(PyObject *unused, PyObject *arguments) {
    (void)unused;
    return of_labels(arguments, recmap_order_grouped);
}

static PyObject *stratified(PyObject *unused, PyObject *arguments) {
    (void)unused;
    return of_labels(arguments, recmap_order_stratified);
}

/* The GIL is released while the order is created, which sorts all lengths. The arrays stay valid
 * meanwhile, because their views are held. */
static PyObject *bucketed(PyObject *unused, PyObject *arguments) {
    (void)unused;
    struct array_view lengths = ARRAY_VIEW_INIT, bounds = ARRAY_VIEW_INIT;
    recmap_bucket_size size;
    uint64_t seed;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&O&:bucketed", take_array, &lengths, take_array,
                          &bounds, take_uint64, &size.batch_size, take_uint64, &size.token_budget,
                          take_uint64, &seed))
        return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    signals_start(&check);
    status = recmap_order_bucketed(&order, lengths.data, lengths.count, bounds.data, bounds.count,
                                   size, seed, &error);
    signals_stop(&check);
    array_release(&lengths);
    array_release(&bounds);
    return order_wrap(status, order, &error);
}

struct mixture_arguments {
    PyObject *sources;
    struct array_view positions, weights;
    recmap_mixture_options options;
};

/* Returns NULL with an exception. `orders` and `changes` have room for all of them. */
static PyObject *blend(const struct mixture_arguments *arguments, recmap_order **orders,
                       recmap_mixture_change *changes, size_t source_count) {
    const uint64_t *positions = arguments->positions.data;
    const double *weights = arguments->weights.data;
    for (size_t i = 0; i < source_count; i++)
        orders[i] = order_of(PyList_GetItem(arguments->sources, (Py_ssize_t)i));
    for (size_t i = 0; i < arguments->positions.count; i++)
        changes[i] = (recmap_mixture_change){positions[i], weights + i * source_count};
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_order_blended(&order, orders, source_count, changes,
                                                arguments->positions.count, &arguments->options,
                                                &error);
    return order_wrap(status, order, &error);
}

static PyObject *blend_checked(const struct mixture_arguments *arguments) {
    size_t count = (size_t)PyList_Size(arguments->sources),
           change_count = arguments->positions.count;
    for (size_t i = 0; i < count; i++) {
        PyObject *source = PyList_GetItem(arguments->sources, (Py_ssize_t)i);
        if (!PyObject_TypeCheck(source, order_type))
            return PyErr_Format(PyExc_TypeError, "source %zu of the mixture is not an order", i);
    }
    if (arguments->weights.count != count * change_count)
        return PyErr_Format(PyExc_ValueError, "%zu weight%s for %zu order%s and %zu change%s",
                            arguments->weights.count, arguments->weights.count == 1 ? "" : "s",
                            count, count == 1 ? "" : "s", change_count,
                            change_count == 1 ? "" : "s");
    recmap_order **orders = calloc(count + 1, sizeof *orders);
    recmap_mixture_change *changes = calloc(change_count + 1, sizeof *changes);
    PyObject *result = orders && changes ? blend(arguments, orders, changes, count)
                                         : PyErr_NoMemory();
    free(orders);
    free(changes);
    return result;
}

/* mixture([Order], positions, weights, is_last, length): `weights` is an array of doubles: for each
 * position, the weights of all orders. */
static PyObject *mixture(PyObject *unused, PyObject *arguments) {
    (void)unused;
    struct mixture_arguments given = {.positions = ARRAY_VIEW_INIT,
                                      .weights = ARRAY_VIEW_INIT,
                                      .options = RECMAP_MIXTURE_OPTIONS_INIT};
    int is_last;
    if (!PyArg_ParseTuple(arguments, "O!O&O&iO&:mixture", &PyList_Type, &given.sources, take_array,
                          &given.positions, take_array, &given.weights, &is_last, take_uint64,
                          &given.options.length))
        return NULL;
    given.options.stop = is_last ? RECMAP_STOP_LAST : RECMAP_STOP_FIRST;
    PyObject *result = blend_checked(&given);
    array_release(&given.positions);
    array_release(&given.weights);
    return result;
}

/* ---- Views of an order. */

static PyObject *view_range(PyObject *object, PyObject *arguments) {
    uint64_t first, count;
    long long step;
    if (!PyArg_ParseTuple(arguments, "O&O&L:view_range", take_uint64, &first, take_uint64, &count,
                          &step))
        return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_order_view_range(&order, order_of(object), first, count, step, &error);
    return order_wrap(status, order, &error);
}

static PyObject *view_list(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "O&:view_list", take_array, &numbers)) return NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_order_view_list(&order, order_of(object), numbers.data, numbers.count, &error);
    array_release(&numbers);
    return order_wrap(status, order, &error);
}

/* ---- What an order gives. */

/* Signals are checked after each piece of this many positions: a millisecond or two. What an order
 * computes about a whole epoch first asks the thread's interrupt. */
enum { PIECE = 1 << 16 };

static size_t min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The GIL is held. Returns 0 to continue, -1 with an exception. */
static int end_piece(recmap_status status, const recmap_error *error) {
    return status == RECMAP_OK ? PyErr_CheckSignals() : raise_error_int(error);
}

/* Copies the positions before they are checked and used, because another thread may change the
 * caller's array meanwhile. A copy of this size stays in the first-level cache. */
static recmap_status at_copies(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                               const uint64_t *positions, size_t count, recmap_error *error) {
    enum { COPIED = 2048 };
    uint64_t copy[COPIED];
    for (size_t done = 0; done < count; done += COPIED) {
        size_t here = min_size(count - done, COPIED);
        memcpy(copy, positions + done, here * sizeof *copy);
        recmap_status status = recmap_order_at(numbers + done, order, epoch, copy, here, error);
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

static int at_pieces(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                     const uint64_t *positions, size_t count) {
    for (size_t done = 0; done < count; done += PIECE) {
        recmap_error error = RECMAP_ERROR_INIT;
        struct signal_check check;
        signals_start(&check);
        recmap_status status = at_copies(numbers + done, order, epoch, positions + done,
                                         min_size(count - done, PIECE), &error);
        signals_stop(&check);
        if (end_piece(status, &error) < 0) return -1;
    }
    return 0;
}

/* No positions are also a piece: `first` is checked. */
static int run_pieces(uint64_t *numbers, const recmap_order *order, uint64_t epoch, uint64_t first,
                      size_t count) {
    size_t done = 0;
    do {
        recmap_error error = RECMAP_ERROR_INIT;
        struct signal_check check;
        signals_start(&check);
        recmap_status status = recmap_order_read(numbers + done, order, epoch, first + done,
                                                 min_size(count - done, PIECE), &error);
        signals_stop(&check);
        if (end_piece(status, &error) < 0) return -1;
        done += PIECE;
    } while (done < count);
    return 0;
}

static int position_of_pieces(uint64_t *positions, const recmap_order *order, uint64_t epoch,
                              const uint64_t *numbers, size_t count) {
    for (size_t done = 0; done < count; done += PIECE) {
        size_t end = done + min_size(count - done, PIECE);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = RECMAP_OK;
        struct signal_check check;
        signals_start(&check);
        for (size_t i = done; i < end && status == RECMAP_OK; i++)
            status = recmap_order_position_of(positions + i, order, epoch, numbers[i], &error);
        signals_stop(&check);
        if (end_piece(status, &error) < 0) return -1;
    }
    return 0;
}

/* at(out, epoch, positions): arrays of uint64 of equal length; they can be the same array */
static PyObject *at(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT, positions = ARRAY_VIEW_INIT;
    uint64_t epoch;
    if (!PyArg_ParseTuple(arguments, "O&O&O&:at", take_array_out, &numbers, take_uint64, &epoch,
                          take_array, &positions))
        return NULL;
    int failed = at_pieces(numbers.data, order_of(object), epoch, positions.data,
                           min_size(numbers.count, positions.count));
    array_release(&numbers);
    array_release(&positions);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* run(out, epoch, first): consecutive positions, one per item of `out` */
static PyObject *run(PyObject *object, PyObject *arguments) {
    struct array_view numbers = ARRAY_VIEW_INIT;
    uint64_t epoch, first;
    if (!PyArg_ParseTuple(arguments, "O&O&O&:run", take_array_out, &numbers, take_uint64, &epoch,
                          take_uint64, &first))
        return NULL;
    int failed = run_pieces(numbers.data, order_of(object), epoch, first, numbers.count);
    array_release(&numbers);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* position_of(out, epoch, numbers) */
static PyObject *position_of(PyObject *object, PyObject *arguments) {
    struct array_view positions = ARRAY_VIEW_INIT, numbers = ARRAY_VIEW_INIT;
    uint64_t epoch;
    if (!PyArg_ParseTuple(arguments, "O&O&O&:position_of", take_array_out, &positions, take_uint64,
                          &epoch, take_array, &numbers))
        return NULL;
    int failed = position_of_pieces(positions.data, order_of(object), epoch, numbers.data,
                                    min_size(numbers.count, positions.count));
    array_release(&positions);
    array_release(&numbers);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *count(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(recmap_order_count(order_of(object)));
}

static PyObject *number_limit(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(recmap_order_number_limit(order_of(object)));
}

static PyObject *repeats(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(recmap_order_repeats(order_of(object)));
}

static PyObject *batch_count(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(recmap_order_batch_count(order_of(object)));
}

/* batch(epoch, index) -> (first position, number of positions) */
static PyObject *batch(PyObject *object, PyObject *arguments) {
    uint64_t epoch, index, first = 0, size = 0;
    if (!PyArg_ParseTuple(arguments, "O&O&:batch", take_uint64, &epoch, take_uint64, &index))
        return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_order_batch(&first, &size, order_of(object), epoch, index, &error);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("(KK)", (unsigned long long)first, (unsigned long long)size);
}

static PyObject *describe(PyObject *object, PyObject *unused) {
    (void)unused;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_order_describe(&text, order_of(object), &error);
    return text_take(&text, status, &error);
}

/* share(epoch, position, world_size, batch_size, last, step, rank) -> (steps, first, count): the
 * steps from this position to the end of the epoch, and the positions of one rank in one step */
static PyObject *share(PyObject *object, PyObject *arguments) {
    recmap_deal_options options = RECMAP_DEAL_OPTIONS_INIT;
    uint64_t epoch, position, step;
    int last;
    unsigned rank;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&iO&O&:share", take_uint64, &epoch, take_uint64,
                          &position, take_unsigned, &options.world_size, take_uint64,
                          &options.batch_size, &last, take_uint64, &step, take_unsigned, &rank))
        return NULL;
    options.last = (recmap_last)last;
    recmap_deal deal;
    recmap_share share = {0, 0};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_deal_init(&deal, order_of(object), epoch, position, &options, &error);
    if (status == RECMAP_OK && step < deal.step_count)
        status = recmap_deal_share(&share, &deal, step, rank, &error);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("(KKK)", (unsigned long long)deal.step_count,
                         (unsigned long long)share.first, (unsigned long long)share.count);
}

/* state_after(epoch, position, world_size, batch_size, last, steps) -> (epoch, position) */
static PyObject *state_after(PyObject *object, PyObject *arguments) {
    recmap_deal_options options = RECMAP_DEAL_OPTIONS_INIT;
    uint64_t epoch, position, steps;
    int last;
    if (!PyArg_ParseTuple(arguments, "O&O&O&O&iO&:state_after", take_uint64, &epoch, take_uint64,
                          &position, take_unsigned, &options.world_size, take_uint64,
                          &options.batch_size, &last, take_uint64, &steps))
        return NULL;
    options.last = (recmap_last)last;
    recmap_deal deal;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_deal_init(&deal, order_of(object), epoch, position, &options, &error);
    if (status == RECMAP_OK) status = recmap_deal_state(&epoch, &position, &deal, steps, &error);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("(KK)", (unsigned long long)epoch, (unsigned long long)position);
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    recmap_order_release(order_of(object));
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"sequential", sequential, METH_VARARGS | METH_STATIC, NULL},
    {"shuffled", shuffled, METH_VARARGS | METH_STATIC, NULL},
    {"windowed", windowed, METH_VARARGS | METH_STATIC, NULL},
    {"with_replacement", with_replacement, METH_VARARGS | METH_STATIC, NULL},
    {"weighted", weighted, METH_VARARGS | METH_STATIC, NULL},
    {"grouped", grouped, METH_VARARGS | METH_STATIC, NULL},
    {"stratified", stratified, METH_VARARGS | METH_STATIC, NULL},
    {"bucketed", bucketed, METH_VARARGS | METH_STATIC, NULL},
    {"mixture", mixture, METH_VARARGS | METH_STATIC, NULL},
    {"chunked", order_chunked, METH_VARARGS | METH_STATIC, NULL},
    {"packed", order_packed, METH_VARARGS | METH_STATIC, NULL},
    {"windows", order_windows, METH_VARARGS | METH_STATIC, NULL},
    {"view_range", view_range, METH_VARARGS, NULL},
    {"view_list", view_list, METH_VARARGS, NULL},
    {"at", at, METH_VARARGS, NULL},
    {"run", run, METH_VARARGS, NULL},
    {"position_of", position_of, METH_VARARGS, NULL},
    {"pieces", order_pieces, METH_VARARGS, NULL},
    {"prepare", order_prepare, METH_VARARGS, NULL},
    {"row_width", order_row_width, METH_NOARGS, NULL},
    {"has_windows", order_has_windows, METH_NOARGS, NULL},
    {"record_limit", order_record_limit, METH_NOARGS, NULL},
    {"fill", order_fill, METH_NOARGS, NULL},
    {"elements", order_elements, METH_NOARGS, NULL},
    {"count", count, METH_NOARGS, NULL},
    {"number_limit", number_limit, METH_NOARGS, NULL},
    {"repeats", repeats, METH_NOARGS, NULL},
    {"batch_count", batch_count, METH_NOARGS, NULL},
    {"batch", batch, METH_VARARGS, NULL},
    {"describe", describe, METH_NOARGS, NULL},
    {"share", share, METH_VARARGS, NULL},
    {"state_after", state_after, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What the classes of orders hold."},
    {0, NULL},
};

PyType_Spec order_spec = {
    .name = "recmap._recmap.Order",
    .basicsize = sizeof(struct order_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
