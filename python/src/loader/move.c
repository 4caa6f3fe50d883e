/* Moving a loader to another position. */
#include "base/arguments.h"
#include "base/errors.h"
#include "base/module.h"
#include "loader/loader.h"
#include "order/order.h"

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
    if (loader_check_fork(self, &error) != RECMAP_OK) {
        raise_error_int(&error);
        return -1;
    }
    self->generation++;
    loader_lock(self);
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
    loader_unlock(self);
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
        loader_unlock(self);
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
PyObject *loader_seek(PyObject *object, PyObject *arguments) {
    return move_to((struct loader_object *)object, recmap_loader_seek, arguments, 1);
}

/* go_back(epoch, position) continues the present run. */
PyObject *loader_go_back(PyObject *object, PyObject *arguments) {
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
PyObject *loader_restart(PyObject *object, PyObject *argument) {
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
PyObject *loader_close(PyObject *object, PyObject *unused) {
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
PyObject *loader_load(PyObject *object, PyObject *arguments) {
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
