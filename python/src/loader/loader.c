/* A loader as an object. One thread uses it at a time: others wait at its lock. */
#include "loader/loader.h"

#include <time.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/critical.h"
#include "base/errors.h"
#include "base/module.h"
#include "base/signals.h"
#include "batch/batch.h"
#include "batch/parser.h"
#include "loader/block_pool.h"
#include "order/order.h"

/* Signals are looked at this often while a batch is not ready. */
#define WAIT_NS 50000000u

static void lock(struct loader_object *self) {
    if (PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) return;
    Py_BEGIN_ALLOW_THREADS
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

static void unlock(struct loader_object *self) {
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
static recmap_status check_process(const struct loader_object *self, recmap_error *error) {
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
        lock(self);
        int is_ready = 0, is_moved = self->generation != generation;
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = RECMAP_OK;
        Py_BEGIN_ALLOW_THREADS
        if (!is_moved) status = recmap_loader_wait(&is_ready, self->loader, WAIT_NS, &error);
        Py_END_ALLOW_THREADS
        if (status == RECMAP_OK && is_ready) return 1;
        unlock(self);
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
        unlock(self);
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
    if (check_process(self, &error) != RECMAP_OK) return raise_error(&error);
    lock(self);
    Py_BEGIN_ALLOW_THREADS
    if (!self->first) status = recmap_loader_wait(&is_ready, self->loader, timeout_ns, &error);
    Py_END_ALLOW_THREADS
    unlock(self);
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
    if (check_process(self, &error) != RECMAP_OK) return raise_error(&error);
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
    if (check_process((struct loader_object *)object, &error) != RECMAP_OK)
        return raise_error(&error);
    Py_RETURN_NONE;
}

/* The steps ahead while the loader moves. */
struct move {
    struct step_object *first, *newest;
    size_t count;
    int is_callers; /* the next iterator begins there, whatever restarts loaders */
};

/* Begins to move: threads that wait for a step stop waiting, and the lock is held until end_move.
 * -1 with an exception, in a child process: the lock may have been held when it was forked.
 *
 * The steps ahead are set aside in the same moment as the lock is obtained. While they were still
 * there, another thread could deliver one of them during the move, and the loader would then be put
 * back to a position before it: the step would be delivered twice. */
static int begin_move(struct move *move, struct loader_object *self) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (check_process(self, &error) != RECMAP_OK) return raise_error_int(&error);
    self->generation++;
    lock(self);
    *move = (struct move){self->first, self->newest, self->ahead_count, 0};
    self->first = self->newest = NULL;
    self->ahead_count = 0;
    return 0;
}

static void drop_steps(struct step_object *first) {
    while (first) {
        struct step_object *step = first;
        first = step->next;
        step->next = NULL;
        Py_DECREF((PyObject *)step);
    }
}

/* Ends a move that did not happen. */
static void cancel_move(struct loader_object *self, const struct move *move) {
    self->first = move->first;
    self->newest = move->newest;
    self->ahead_count = move->count;
    unlock(self);
}

/* Drops the steps that were set aside, or puts them back if the move failed. They are dropped after
 * the lock is released, because that may run any code. */
static int end_move(struct loader_object *self, struct move *move, recmap_status status,
                    recmap_error *error) {
    if (status == RECMAP_OK)
        status = recmap_loader_tell(&self->epoch, &self->position, self->loader, error);
    if (status == RECMAP_OK) {
        self->is_end_next = 0;
        if (move->is_callers) self->was_moved = 1;
        unlock(self);
        drop_steps(move->first);
        return 0;
    }
    cancel_move(self, move);
    return raise_error_int(error);
}

/* recmap_loader_seek, or recmap_loader_return. */
typedef recmap_status (*move_fn)(recmap_loader *loader, uint64_t epoch, uint64_t position,
                                 recmap_error *error);

/* Moves the library's loader, between begin_move and end_move. */
static recmap_status move_library(struct loader_object *self, move_fn function, uint64_t epoch,
                                  uint64_t position, recmap_error *error) {
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = function(self->loader, epoch, position, error);
    Py_END_ALLOW_THREADS
    return status;
}

static PyObject *move_to(struct loader_object *self, move_fn function, PyObject *arguments,
                         int begins_run) {
    uint64_t epoch, position;
    recmap_error error = RECMAP_ERROR_INIT;
    struct move move;
    if (!PyArg_ParseTuple(arguments, "O&O&", take_uint64, &epoch, take_uint64, &position) ||
        begin_move(&move, self) < 0)
        return NULL;
    move.is_callers = begins_run;
    recmap_status status = move_library(self, function, epoch, position, &error);
    if (end_move(self, &move, status, &error) < 0) return NULL;
    self->next_step = begins_run ? 0 : RECMAP_NO_STEP;
    Py_RETURN_NONE;
}

/* seek(epoch, position) begins a run, at the place that the caller chose. */
static PyObject *seek(PyObject *object, PyObject *arguments) {
    return move_to((struct loader_object *)object, recmap_loader_seek, arguments, 1);
}

/* go_back(epoch, position) continues the present run. */
static PyObject *go_back(PyObject *object, PyObject *arguments) {
    return move_to((struct loader_object *)object, recmap_loader_return, arguments, 0);
}

static int may_restart(const struct loader_object *self) {
    const int is_elsewhere = self->epoch || self->position || self->is_end_next;
    return is_elsewhere && !self->was_moved && !self->is_iterating;
}

/* Moves the loader to the start unless the caller has moved it, or there is an iterator. Both are
 * looked at again with the lock held: another thread may have moved the loader, or begun to
 * iterate, before. Returns whether it was moved, or -1 with an exception. */
static int move_to_start(struct loader_object *self) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct move move;
    if (!may_restart(self)) return 0;
    if (begin_move(&move, self) < 0) return -1;
    if (!may_restart(self)) {
        cancel_move(self, &move);
        return 0;
    }
    recmap_status status = move_library(self, recmap_loader_seek, 0, 0, &error);
    if (end_move(self, &move, status, &error) < 0) return -1;
    self->next_step = 0;
    return 1;
}

/* restart(whether to end the iterator first) -> (whether the loader was moved to the start, number
 * of the iteration before the one that begins there). An iterator with that number has ended if
 * another thread has begun to iterate in the meantime: else it would begin in the middle. */
static PyObject *restart(PyObject *object, PyObject *argument) {
    struct loader_object *self = (struct loader_object *)object;
    if (argument == Py_True) {
        self->iteration++;
        self->is_iterating = 0;
    }
    uint64_t iteration = self->iteration;
    int is_moved = move_to_start(self);
    if (is_moved < 0) return NULL;
    return Py_BuildValue("(NK)", PyBool_FromLong(is_moved), (unsigned long long)iteration);
}

/* Stops the library's threads, between begin_move and end_move. */
static recmap_status stop_library(struct loader_object *self, recmap_error *error) {
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_loader_stop(self->loader, error);
    Py_END_ALLOW_THREADS
    return status;
}

/* close() ends the iterator, drops the steps ahead, and stops the threads. */
static PyObject *close_iteration(PyObject *object, PyObject *unused) {
    (void)unused;
    struct loader_object *self = (struct loader_object *)object;
    recmap_error error = RECMAP_ERROR_INIT;
    struct move move;
    self->iteration++;
    self->is_iterating = 0;
    if (begin_move(&move, self) < 0) return NULL;
    /* Read after the steps were set aside: until then another thread may deliver one. */
    recmap_status status =
        move_library(self, recmap_loader_return, self->epoch, self->position, &error);
    if (status == RECMAP_OK) status = stop_library(self, &error);
    if (end_move(self, &move, status, &error) < 0) return NULL;
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
    if (check_process(self, &error) != RECMAP_OK) return raise_error(&error);
    lock(self);
    recmap_status status = recmap_loader_find_step(&deal, &index, self->loader, step, &error);
    if (status == RECMAP_OK) status = recmap_deal_share(&share, &deal, index, rank, &error);
    unlock(self);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("(KKK)", (unsigned long long)deal.epoch, (unsigned long long)share.first,
                         (unsigned long long)share.count);
}

enum load_rule { LOAD_SAME, LOAD_CONTINUED, LOAD_CHANGED };

/* With `old_order`, the rule is not used. The GIL is not held. */
static recmap_status load_state(recmap_loader *loader, const recmap_state *state,
                                enum load_rule rule, recmap_order *old_order, recmap_error *error) {
    if (old_order) return recmap_loader_load_grown(loader, state, old_order, error);
    if (rule == LOAD_SAME) return recmap_loader_load(loader, state, error);
    if (rule == LOAD_CONTINUED) return recmap_loader_load_continued(loader, state, error);
    const recmap_state_info *info = recmap_state_get_info(state);
    return recmap_loader_seek(loader, info->epoch, info->position, error);
}

/* load(JSON of a state, rule, old order or None) */
static PyObject *load(PyObject *object, PyObject *arguments) {
    struct loader_object *self = (struct loader_object *)object;
    const char *text;
    Py_ssize_t size;
    int rule;
    PyObject *old_order;
    if (!PyArg_ParseTuple(arguments, "s#iO:load", &text, &size, &rule, &old_order)) return NULL;
    recmap_order *order = NULL;
    if (old_order != Py_None) {
        if (!PyObject_TypeCheck(old_order, (PyTypeObject *)order_type)) {
            PyErr_SetString(PyExc_TypeError, "the old order must be an order or None");
            return NULL;
        }
        order = ((struct order_object *)old_order)->order;
    }
    recmap_state *state = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_state_from_json(&state, text, (size_t)size, &error);
    if (status != RECMAP_OK) return raise_state_error(&error);
    struct move move;
    if (begin_move(&move, self) < 0) {
        recmap_state_destroy(state);
        return NULL;
    }
    move.is_callers = 1;
    Py_BEGIN_ALLOW_THREADS
    status = load_state(self->loader, state, (enum load_rule)rule, order, &error);
    Py_END_ALLOW_THREADS
    recmap_state_destroy(state);
    if (end_move(self, &move, status, &error) < 0) return NULL;
    self->next_step = 0;
    Py_RETURN_NONE;
}

static PyObject *estimate_requests(PyObject *object, PyObject *unused) {
    (void)unused;
    struct loader_object *self = (struct loader_object *)object;
    recmap_request_estimate found;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    struct signal_check check;
    if (check_process(self, &error) != RECMAP_OK) return raise_error(&error);
    lock(self);
    signals_start(&check);
    status = recmap_loader_estimate_requests(&found, self->loader, &error);
    signals_stop(&check);
    unlock(self);
    if (status != RECMAP_OK) return raise_error(&error);
    return Py_BuildValue("{sKsKsKsN}", "requests", (unsigned long long)found.request_count, "bytes",
                         (unsigned long long)found.byte_count, "used_bytes",
                         (unsigned long long)found.used_byte_count, "exact",
                         PyBool_FromLong(found.is_exact));
}

/* Adds what the storage of the data set has requested. */
static PyObject *add_storage_statistics(PyObject *dict, const recmap_dataset *dataset) {
    recmap_storage_statistics found = recmap_dataset_storage_statistics(dataset);
    PyObject *added = Py_BuildValue(
        "{sKsKsKsKsKsKsKsK}", "requests", (unsigned long long)found.request_count, "retries",
        (unsigned long long)found.retry_count, "hedges", (unsigned long long)found.hedge_count,
        "requested_bytes", (unsigned long long)found.byte_count, "used_bytes",
        (unsigned long long)found.used_byte_count, "latency_p50_ns",
        (unsigned long long)found.latency_p50_ns, "latency_p99_ns",
        (unsigned long long)found.latency_p99_ns, "gap", (unsigned long long)found.gap);
    int failed = !dict || !added || PyDict_Update(dict, added) != 0;
    Py_XDECREF(added);
    if (failed) Py_CLEAR(dict);
    return dict;
}

/* From the first step that was asked for until the latest one was delivered. */
static unsigned long long run_ns(const struct loader_object *self) {
    return self->delivered_ns > self->begun_ns ? self->delivered_ns - self->begun_ns : 0;
}

static PyObject *statistics(PyObject *object, PyObject *unused) {
    (void)unused;
    const struct loader_object *self = (struct loader_object *)object;
    recmap_loader_statistics found;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_loader_get_statistics(&found, self->loader, &error);
    if (status != RECMAP_OK) return raise_error(&error);
    const recmap_dataset *dataset = self->handle->dataset;
    recmap_cache_statistics cache = recmap_dataset_cache_statistics(dataset);
    recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
    PyObject *dict = Py_BuildValue(
        "{sKsKsKsKsKsKsKsKsKsKsKsKsKsKsKsKsKsKsIsIsIsKsKsK}", "batches",
        (unsigned long long)found.batch_count, "fill_ns", (unsigned long long)found.fill_ns,
        "parse_ns", (unsigned long long)found.parse_ns, "decode_ns",
        (unsigned long long)found.decode_ns, "decoded_count",
        (unsigned long long)found.decoded_count, "decode_failed_count",
        (unsigned long long)found.decode_failed_count, "decode_warning_count",
        (unsigned long long)found.decode_warning_count, "cache_hits",
        (unsigned long long)cache.hit_count, "cache_misses", (unsigned long long)cache.miss_count,
        "span_hits", (unsigned long long)spans.hit_count, "spans_inflated",
        (unsigned long long)spans.inflate_count, "records", (unsigned long long)found.record_count,
        "bytes", (unsigned long long)found.byte_count, "caller_wait_ns",
        (unsigned long long)found.caller_wait_ns, "worker_wait_ns",
        (unsigned long long)found.worker_wait_ns, "skipped",
        (unsigned long long)found.skipped_count, "readahead",
        (unsigned long long)found.readahead_count, "readahead_records",
        (unsigned long long)found.readahead_distance, "threads", found.thread_count,
        "batches_ready", found.batches_ready, "warm_state", (unsigned)found.warm_state,
        "warmed_bytes", (unsigned long long)found.warm_read_size, "warm_bytes",
        (unsigned long long)found.warm_present_size, "run_ns", run_ns(self));
    return add_storage_statistics(dict, dataset);
}

static PyObject *next_step(struct loader_object *self) {
    if (self->next_step == RECMAP_NO_STEP) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(self->next_step);
}

/* Asks without the lock, which a thread that waits for a step holds.
 * why() -> (cause, work, nanoseconds that callers have waited, or 0, next step or None,
 * threads, batches begun, batches ready, times in nanoseconds by cause, pending or None); pending:
 * (name, first byte, last byte, attempt, nanoseconds, error) */
static PyObject *why(PyObject *object, PyObject *unused) {
    (void)unused;
    struct loader_object *self = (struct loader_object *)object;
    recmap_why found;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    Py_BEGIN_ALLOW_THREADS
    status = recmap_loader_why(&found, self->loader, &error);
    Py_END_ALLOW_THREADS
    if (status != RECMAP_OK) return raise_error(&error);
    PyObject *times = PyList_New(RECMAP_CAUSES), *pending = Py_NewRef(Py_None);
    for (Py_ssize_t i = 0; times && i < RECMAP_CAUSES; i++) {
        PyObject *ns = PyLong_FromUnsignedLongLong(found.cause_ns[i]);
        if (!ns || PyList_SetItem(times, i, ns) < 0) Py_CLEAR(times);
    }
    if (found.has_pending) {
        Py_DECREF(pending);
        pending = Py_BuildValue(
            "(NKKIKN)", PyUnicode_DecodeFSDefault(found.name), (unsigned long long)found.first_byte,
            (unsigned long long)found.last_byte, found.attempt,
            (unsigned long long)found.pending_ns, PyUnicode_DecodeFSDefault(found.last_error));
    }
    if (times && pending)
        return Py_BuildValue("(iiKNIIINN)", (int)found.cause, (int)found.work,
                             (unsigned long long)loader_waited_ns(self), next_step(self),
                             found.thread_count, found.batches_begun, found.batches_ready, times,
                             pending);
    Py_XDECREF(times);
    Py_XDECREF(pending);
    return NULL;
}

static PyObject *skipped_row(const recmap_skipped *skipped) {
    PyObject *substitute = Py_None;
    if (skipped->substitute == RECMAP_NO_RECORD) Py_INCREF(substitute);
    else substitute = PyLong_FromUnsignedLongLong(skipped->substitute);
    if (!substitute) return NULL;
    return Py_BuildValue("(KKKN)", (unsigned long long)skipped->epoch,
                         (unsigned long long)skipped->position, (unsigned long long)skipped->number,
                         substitute);
}

/* skipped() -> [(epoch, position, number, substitute or None)] */
static PyObject *skipped(PyObject *object, PyObject *unused) {
    (void)unused;
    enum { AT_ONCE = 64 };
    PyObject *list = PyList_New(0);
    recmap_skipped some[AT_ONCE];
    size_t count = AT_ONCE;
    for (size_t first = 0; list && count == AT_ONCE; first += count) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_loader_get_skipped(
            some, AT_ONCE, &count, ((struct loader_object *)object)->loader, first, &error);
        if (status != RECMAP_OK) {
            Py_DECREF(list);
            return raise_error(&error);
        }
        for (size_t i = 0; list && i < count; i++) {
            PyObject *row = skipped_row(&some[i]);
            if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
            Py_XDECREF(row);
        }
    }
    return list;
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
LOCKED_METHOD(seek)
LOCKED_METHOD(go_back)
LOCKED_METHOD(restart)
LOCKED_METHOD(find_step)
LOCKED_METHOD(load)
LOCKED_METHOD(close_iteration)

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
    {"seek", locked_seek, METH_VARARGS, NULL},
    {"go_back", locked_go_back, METH_VARARGS, NULL},
    {"restart", locked_restart, METH_O, NULL},
    {"find_step", locked_find_step, METH_VARARGS, NULL},
    {"load", locked_load, METH_VARARGS, NULL},
    {"close", locked_close_iteration, METH_NOARGS, NULL},
    {"statistics", statistics, METH_NOARGS, NULL},
    {"while_asked", loader_while_asked, METH_O, NULL},
    {"why", why, METH_NOARGS, NULL},
    {"skipped", skipped, METH_NOARGS, NULL},
    {"estimate_requests", estimate_requests, METH_NOARGS, NULL},
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
