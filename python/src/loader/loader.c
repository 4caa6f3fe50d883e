/* A loader as an object. One thread uses it at a time: others wait at its lock. */
#include "loader/loader.h"

#include <time.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/critical.h"
#include "base/errors.h"
#include "base/module.h"
#include "batch/batch.h"
#include "batch/parser.h"
#include "loader/block_pool.h"
#include "order/order.h"

/* Signals are looked at this often while a batch is not ready. */
#define WAIT_NS 50000000u

void loader_lock(struct loader_object *self) {
    if (PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) return;
    Py_BEGIN_ALLOW_THREADS
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

void loader_unlock(struct loader_object *self) {
    PyThread_release_lock(self->lock);
}

/* A converter: the order of an object, borrowed, or NULL of None. */
static int take_order_or_none(PyObject *object, void *out) {
    recmap_order **order = out;
    *order = NULL;
    if (object == Py_None) return 1;
    if (PyObject_TypeCheck(object, (PyTypeObject *)order_type)) {
        *order = ((struct order_object *)object)->order;
        return 1;
    }
    PyErr_SetString(PyExc_TypeError, "the order of the draws must be an order or None");
    return 0;
}

/* The object owns all that the loader borrows. After an error, its deallocation releases whatever
 * was set. */
static PyObject *loader_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {
        "handle",    "order", "batch_size",    "rank",       "world_size", "last",
        "threads",   "ahead", "on_bad_record", "readahead",  "parser",     "epoch_limit",
        "draw_seed", "warm",  "memory",        "draw_order", NULL};
    PyObject *handle, *order, *memory = NULL;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    int last = 0, on_bad_record = 0, readahead = 0, warm = 0;
    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "O!O!O&O&O&iO&O&iiO&O&O&i|O&O&:Loader", names, handle_type,
            &handle, order_type, &order, take_uint64, &options.batch_size, take_unsigned,
            &options.rank, take_unsigned, &options.world_size, &last, take_unsigned,
            &options.thread_count, take_unsigned, &options.batches_ahead, &on_bad_record,
            &readahead, take_parser, &options.parser, take_uint64,
            &options.batches_ahead_epoch_limit, take_uint64, &options.draw_seed, &warm,
            take_block_pool, &memory, take_order_or_none, &options.draw_order))
        return NULL;
    if (memory) options.allocator = block_pool_allocator(memory);
    options.last = (recmap_last)last;
    options.on_bad_record = (recmap_on_bad_record)on_bad_record;
    options.readahead = (recmap_readahead)readahead;
    options.warm = (recmap_warm)warm;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct loader_object *self = (struct loader_object *)allocate(type, 0);
    if (!self) return NULL;
    self->handle = (struct handle_object *)handle;
    handle_retain(self->handle);
    Py_XINCREF(memory);
    self->memory = memory;
    if (options.parser) self->parser = recmap_parser_retain(options.parser);
    self->process = getpid();
    self->lock = PyThread_allocate_lock();
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    if (!self->lock) PyErr_NoMemory();
    else
        status = recmap_loader_create(&self->loader, self->handle->dataset,
                                      ((struct order_object *)order)->order, &options, &error);
    if (status != RECMAP_OK) raise_error(&error);
    if (self->loader) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* ---- Steps ahead. */

/* Another thread may be in recmap_loader_next now, without the critical section. So the loader is
 * only asked in a forked child, which has no other threads at first. */
recmap_status loader_check_fork(const struct loader_object *self, recmap_error *error) {
    if (self->process == getpid()) return RECMAP_OK;
    uint64_t epoch, position;
    return recmap_loader_tell(&epoch, &position, self->loader, error);
}

static void add(struct loader_object *self, struct step_object *step) {
    Py_INCREF((PyObject *)step);
    if (self->newest) self->newest->next = step;
    else self->first = step;
    self->newest = step;
    self->ahead_count++;
}

/* Removes the first step ahead, whose reference the caller takes over. */
static struct step_object *remove_first(struct loader_object *self) {
    struct step_object *step = self->first;
    self->first = step->next;
    step->next = NULL;
    if (!self->first) self->newest = NULL;
    self->ahead_count--;
    return step;
}

uint64_t loader_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int loader_deliver(struct loader_object *self, struct step_object *step) {
    if (self->first != step) return 0;
    remove_first(self);
    Py_DECREF((PyObject *)step); /* the caller has another reference */
    self->delivered_ns = loader_clock_ns();
    self->epoch = step->epoch;
    self->position = step->position;
    self->is_end_next = !step->is_end && step->position == 0;
    if (step->batch) {
        const uint64_t number = ((struct batch_object *)step->batch)->step;
        self->next_step = number == RECMAP_NO_STEP ? number : number + 1;
    }
    return 1;
}

/* Returns 1 with the lock held when a step is ready; 0 without it when the loader was moved
 * meanwhile; -1 with an exception, as of a signal's handler. The lock is free now and then, so that
 * another thread can move the loader while this one waits. */
static int lock_ready(struct loader_object *self) {
    uint64_t generation = self->generation;
    for (;;) {
        loader_lock(self);
        int is_ready = 0, is_moved = self->generation != generation;
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = RECMAP_OK;
        Py_BEGIN_ALLOW_THREADS
        if (!is_moved) status = recmap_loader_wait(&is_ready, self->loader, WAIT_NS, &error);
        Py_END_ALLOW_THREADS
        if (status == RECMAP_OK && is_ready) return 1;
        loader_unlock(self);
        if (status != RECMAP_OK) return raise_error_int(&error);
        if (PyErr_CheckSignals() < 0) return -1;
        if (is_moved) return 0;
    }
}

/* The library's next batch, or NULL at the end of an epoch. -1 with an exception. */
static int next_batch(recmap_batch **batch, struct loader_object *self) {
    recmap_batch *spare = handle_take_batch(self->handle);
    if (!spare) return -1;
    *batch = spare;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_loader_next(batch, self->loader, &error);
    Py_END_ALLOW_THREADS
    if (status == RECMAP_OK) return 0;
    handle_give_batch(self->handle, spare);
    return raise_error_int(&error);
}

/* Makes the library give the batch again that was taken last, whose object could not be made. */
static int put_back(struct loader_object *self, uint64_t epoch, uint64_t position) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_loader_return(self->loader, epoch, position, &error) != RECMAP_OK)
        return raise_error_int(&error);
    return -1;
}

static int tell_library(uint64_t *epoch, uint64_t *position, struct loader_object *self) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_loader_tell(epoch, position, self->loader, &error);
    return status == RECMAP_OK ? 0 : raise_error_int(&error);
}

/* The number of records that were skipped so far. -1 with an exception. */
static int count_skipped(uint64_t *count, struct loader_object *self) {
    recmap_loader_statistics found;
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_loader_get_statistics(&found, self->loader, &error) != RECMAP_OK)
        return raise_error_int(&error);
    *count = found.skipped_count;
    return 0;
}

/* Takes a step and adds it to those ahead. The lock is held. -1 with an exception. */
static int take_into(struct step_object *step, struct loader_object *self) {
    uint64_t epoch, position, skipped_before, skipped;
    recmap_batch *batch;
    if (tell_library(&epoch, &position, self) < 0 || count_skipped(&skipped_before, self) < 0 ||
        next_batch(&batch, self) < 0 || count_skipped(&skipped, self) < 0)
        return -1;
    step->start_epoch = epoch;
    step->start_position = position;
    step->is_end = !batch;
    step->skipped_count = skipped - skipped_before;
    if (batch) step->batch = batch_wrap(self->handle, batch, self->parser);
    if (step->batch && self->hides_steps)
        ((struct batch_object *)step->batch)->step = RECMAP_NO_STEP;
    if ((batch && !step->batch) || tell_library(&step->epoch, &step->position, self) < 0)
        return put_back(self, epoch, position);
    add(self, step);
    return 0;
}

/* take() -> the step that was added to those ahead, or None when the loader was moved meanwhile */
static PyObject *take(PyObject *object, PyObject *unused) {
    (void)unused;
    struct loader_object *self = (struct loader_object *)object;
    struct step_object *step = step_create();
    if (!step) return NULL;
    if (!self->begun_ns) self->begun_ns = loader_clock_ns();
    int ready = lock_ready(self);
    if (ready > 0) {
        if (take_into(step, self) < 0) ready = -1;
        loader_unlock(self);
    }
    if (ready > 0) return (PyObject *)step;
    Py_DECREF((PyObject *)step);
    if (ready < 0) return NULL;
    Py_RETURN_NONE;
}

/* wait(nanoseconds) -> whether a step, or an error, is ready after at most about that time */
static PyObject *wait(PyObject *object, PyObject *argument) {
    struct loader_object *self = (struct loader_object *)object;
    uint64_t timeout_ns;
    int is_ready = 1;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    if (!take_uint64(argument, &timeout_ns)) return NULL;
    if (loader_check_fork(self, &error) != RECMAP_OK) return raise_error(&error);
    loader_lock(self);
    Py_BEGIN_ALLOW_THREADS
    if (!self->first) status = recmap_loader_wait(&is_ready, self->loader, timeout_ns, &error);
    Py_END_ALLOW_THREADS
    loader_unlock(self);
    if (status != RECMAP_OK) return raise_error(&error);
    return PyBool_FromLong(is_ready);
}

/* first() -> the first step ahead, or None */
static PyObject *first(PyObject *object, PyObject *unused) {
    (void)unused;
    struct loader_object *self = (struct loader_object *)object;
    PyObject *step = self->first ? (PyObject *)self->first : Py_None;
    Py_INCREF(step);
    return step;
}

/* first_or_take() -> the first step ahead, taken now if there is none; or None, as take() */
static PyObject *first_or_take(PyObject *object, PyObject *unused) {
    struct loader_object *self = (struct loader_object *)object;
    recmap_error error = RECMAP_ERROR_INIT;
    if (loader_check_fork(self, &error) != RECMAP_OK) return raise_error(&error);
    return self->first ? first(object, unused) : take(object, unused);
}

/* deliver(step) -> whether it was the first one ahead */
static PyObject *deliver(PyObject *object, PyObject *step) {
    if (!PyObject_TypeCheck(step, step_type))
        return PyErr_Format(PyExc_TypeError, "deliver takes a step");
    return PyBool_FromLong(
        loader_deliver((struct loader_object *)object, (struct step_object *)step));
}

/* ahead() -> (number of steps ahead, the epoch after the newest, whether the newest is an epoch's
 * end, generation). Without steps ahead: of what was delivered, and whether no more is wanted. */
static PyObject *ahead(PyObject *object, PyObject *unused) {
    (void)unused;
    const struct loader_object *self = (struct loader_object *)object;
    const struct step_object *newest = self->newest;
    int is_end = newest ? newest->is_end : !self->is_iterating && !self->is_end_next;
    return Py_BuildValue("(nKiK)", (Py_ssize_t)self->ahead_count,
                         (unsigned long long)(newest ? newest->epoch : self->epoch), is_end,
                         (unsigned long long)self->generation);
}

/* ---- The position. */

/* tell() -> (epoch, position) after what was delivered */
static PyObject *tell(PyObject *object, PyObject *unused) {
    (void)unused;
    const struct loader_object *self = (struct loader_object *)object;
    return Py_BuildValue("(KK)", (unsigned long long)self->epoch,
                         (unsigned long long)self->position);
}

/* is_end_next() -> whether an epoch's last step was delivered and its end was not */
static PyObject *is_end_next(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((struct loader_object *)object)->is_end_next);
}

/* was_moved() -> whether the caller has moved the loader since the latest iterator began */
static PyObject *was_moved(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((struct loader_object *)object)->was_moved);
}

/* set_moved(whether the next iterator begins at this place, and not at the start) */
static PyObject *set_moved(PyObject *object, PyObject *argument) {
    int is_moved = PyObject_IsTrue(argument);
    if (is_moved < 0) return NULL;
    ((struct loader_object *)object)->was_moved = (char)is_moved;
    Py_RETURN_NONE;
}

/* hide_steps(), before the first step is taken */
static PyObject *hide_steps(PyObject *object, PyObject *unused) {
    (void)unused;
    ((struct loader_object *)object)->hides_steps = 1;
    Py_RETURN_NONE;
}

/* check_process() raises in a child of the process in which the loader's threads run */
static PyObject *check_process_method(PyObject *object, PyObject *unused) {
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    if (loader_check_fork((struct loader_object *)object, &error) != RECMAP_OK)
        return raise_error(&error);
    Py_RETURN_NONE;
}

/* find_step(step, rank) -> (epoch, first position, number of positions) of the rank's share in a
 * step of the present run */
static PyObject *find_step(PyObject *object, PyObject *arguments) {
    struct loader_object *self = (struct loader_object *)object;
    uint64_t step, index;
    unsigned rank;
    if (!PyArg_ParseTuple(arguments, "O&O&:find_step", take_uint64, &step, take_unsigned, &rank))
        return NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_deal deal;
    recmap_share share;
    if (loader_check_fork(self, &error) != RECMAP_OK) return raise_error(&error);
    loader_lock(self);
    recmap_status status = recmap_loader_find_step(&deal, &index, self->loader, step, &error);
    if (status == RECMAP_OK) status = recmap_deal_share(&share, &deal, index, rank, &error);
    loader_unlock(self);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("(KKK)", (unsigned long long)deal.epoch, (unsigned long long)share.first,
                         (unsigned long long)share.count);
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
    struct loader_object *self = (struct loader_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->first);
    return 0;
}

static int clear(PyObject *object) {
    struct loader_object *self = (struct loader_object *)object;
    while (self->first) Py_DECREF((PyObject *)remove_first(self));
    return 0;
}

static void dealloc(PyObject *object) {
    struct loader_object *self = (struct loader_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    Py_BEGIN_ALLOW_THREADS
    recmap_loader_destroy(self->loader);
    Py_END_ALLOW_THREADS
    if (self->lock) PyThread_free_lock(self->lock);
    Py_XDECREF(self->memory);
    recmap_parser_release(self->parser);
    handle_release(self->handle);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

LOCKED_METHOD(take)
LOCKED_METHOD(wait)
LOCKED_METHOD(first)
LOCKED_METHOD(first_or_take)
LOCKED_METHOD(deliver)
LOCKED_METHOD(ahead)
LOCKED_METHOD(tell)
LOCKED_METHOD(is_end_next)
LOCKED_METHOD(was_moved)
LOCKED_METHOD(set_moved)
LOCKED_METHOD(loader_seek)
LOCKED_METHOD(loader_go_back)
LOCKED_METHOD(loader_restart)
LOCKED_METHOD(find_step)
LOCKED_METHOD(loader_load)
LOCKED_METHOD(loader_close)

static PyMethodDef methods[] = {
    {"take", locked_take, METH_NOARGS, NULL},
    {"wait", locked_wait, METH_O, NULL},
    {"first", locked_first, METH_NOARGS, NULL},
    {"first_or_take", locked_first_or_take, METH_NOARGS, NULL},
    {"deliver", locked_deliver, METH_O, NULL},
    {"ahead", locked_ahead, METH_NOARGS, NULL},
    {"tell", locked_tell, METH_NOARGS, NULL},
    {"is_end_next", locked_is_end_next, METH_NOARGS, NULL},
    {"was_moved", locked_was_moved, METH_NOARGS, NULL},
    {"set_moved", locked_set_moved, METH_O, NULL},
    {"hide_steps", hide_steps, METH_NOARGS, NULL},
    {"check_process", check_process_method, METH_NOARGS, NULL},
    {"seek", locked_loader_seek, METH_VARARGS, NULL},
    {"go_back", locked_loader_go_back, METH_VARARGS, NULL},
    {"restart", locked_loader_restart, METH_O, NULL},
    {"find_step", locked_find_step, METH_VARARGS, NULL},
    {"load", locked_loader_load, METH_VARARGS, NULL},
    {"close", locked_loader_close, METH_NOARGS, NULL},
    {"statistics", loader_statistics, METH_NOARGS, NULL},
    {"while_asked", loader_while_asked, METH_O, NULL},
    {"why", loader_why, METH_NOARGS, NULL},
    {"skipped", loader_skipped, METH_NOARGS, NULL},
    {"estimate_requests", loader_estimate_requests, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, loader_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What the class Loader holds."},
    {0, NULL},
};

PyType_Spec loader_spec = {
    .name = "recmap._recmap.Loader",
    .basicsize = sizeof(struct loader_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
