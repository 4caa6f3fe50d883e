/* The iterator of a `for` over a loader.
 *
 * In C because a batch and the position after it must reach the caller together. CPython looks at
 * signals when it enters a function, jumps backwards, or has called something, but not between the
 * end of an iterator's `next` in C and the assignment of its value to the variable of the `for`. So
 * a step is delivered as the last thing before `next` returns, after everything that may raise. */
#include "base/arguments.h"
#include "base/critical.h"
#include "base/module.h"
#include "loader/loader.h"

/* After Python.h, which must come first. */
#include <inttypes.h>

struct iterator_object {
    PyObject_HEAD
    struct loader_object *source;
    PyObject *prepare; /* () -> the first step ahead, or None to be asked again */
    PyObject *convert; /* (step) -> what is delivered; NULL: its value, or its batch without one */
    uint64_t iteration;
    uint64_t epoch_limit; /* ends at this epoch */
    char is_one_epoch;    /* ends at the next end of an epoch; without a limit */
};

/* Begins to iterate, which ends the former iterator. With the number that `restart` gave, does so
 * only if no other thread has begun since: otherwise this iterator is the former one. */
static void begin_iteration(struct iterator_object *self, const uint64_t *former) {
    struct loader_object *source = self->source;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)source);
    if (former && *former != source->iteration) {
        self->iteration = *former;
    } else {
        self->iteration = ++source->iteration;
        source->is_iterating = 1;
        source->was_moved = 0;
    }
    Py_END_CRITICAL_SECTION();
}

/* Iterator(loader, prepare, convert or None, epoch limit or None for one epoch, number of the
 * iteration that `restart` gave or None) */
static PyObject *iterator_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"loader", "prepare", "convert", "epoch_limit", "former", NULL};
    PyObject *source, *prepare, *convert, *limit, *former;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!OOOO:Iterator", names, loader_type,
                                     &source, &prepare, &convert, &limit, &former))
        return NULL;
    uint64_t epoch_limit = 0;
    uint64_t former_iteration = 0;
    if (limit != Py_None && !take_uint64(limit, &epoch_limit)) return NULL;
    if (former != Py_None && !take_uint64(former, &former_iteration)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct iterator_object *self = (struct iterator_object *)allocate(type, 0);
    if (!self) return NULL;
    Py_INCREF(source);
    Py_INCREF(prepare);
    self->source = (struct loader_object *)source;
    self->prepare = prepare;
    if (convert != Py_None) {
        Py_INCREF(convert);
        self->convert = convert;
    }
    self->epoch_limit = epoch_limit;
    self->is_one_epoch = limit == Py_None;
    begin_iteration(self, former == Py_None ? NULL : &former_iteration);
    return (PyObject *)self;
}

/* In the loader's critical section. */
static void end_iteration(struct iterator_object *self) {
    self->source->iteration++;
    self->source->is_iterating = 0;
}

/* Returns true if the iterator has ended, or ends here. */
static int is_over(struct iterator_object *self) {
    int is_ended, is_at_limit;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)self->source);
    is_ended = self->iteration != self->source->iteration;
    is_at_limit = !self->is_one_epoch && self->source->epoch >= self->epoch_limit;
    if (!is_ended && is_at_limit) end_iteration(self);
    Py_END_CRITICAL_SECTION();
    return is_ended || is_at_limit;
}

/* A StopIteration out of a transform would end the `for` in silence. */
static void rename_stop(void) {
    PyObject *type, *cause, *trace;
    if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return;
    PyErr_Fetch(&type, &cause, &trace);
    PyErr_NormalizeException(&type, &cause, &trace);
    if (trace) PyException_SetTraceback(cause, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    PyErr_SetString(PyExc_RuntimeError, "a batch's transform raised StopIteration");
    PyObject *error;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyException_SetCause(error, cause);
    PyErr_Restore(type, error, trace);
}

/* What the caller is to get for the step. NULL with an exception. */
static PyObject *value_of(const struct iterator_object *self, struct step_object *step) {
    if (step->is_end) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    if (self->convert) return PyObject_CallFunctionObjArgs(self->convert, (PyObject *)step, NULL);
    PyObject *value;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)step);
    value = step->value ? step->value : step->batch;
    Py_INCREF(value);
    Py_END_CRITICAL_SECTION();
    return value;
}

/* False if another thread delivered the step, or moved the loader. */
static int take_delivery(struct iterator_object *self, struct step_object *step) {
    int is_delivered;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)self->source);
    is_delivered = self->iteration == self->source->iteration && loader_deliver(self->source, step);
    if (is_delivered && step->is_end && self->is_one_epoch) end_iteration(self);
    Py_END_CRITICAL_SECTION();
    return is_delivered;
}

enum outcome { DELIVERED, TRY_AGAIN, RAISED };

/* Nothing that may raise comes after take_delivery. */
static enum outcome deliver(PyObject **value, struct iterator_object *self,
                            struct step_object *step) {
    *value = value_of(self, step);
    if (!*value || PyErr_CheckSignals() < 0) {
        Py_CLEAR(*value);
        return RAISED;
    }
    if (take_delivery(self, step) && !step->is_end) return DELIVERED;
    Py_CLEAR(*value);
    return TRY_AGAIN;
}

static PyObject *next(struct iterator_object *self) {
    while (!is_over(self)) {
        PyObject *step = PyObject_CallNoArgs(self->prepare);
        PyObject *value = NULL;
        enum outcome outcome = RAISED;
        if (step == Py_None) outcome = PyErr_CheckSignals() < 0 ? RAISED : TRY_AGAIN;
        else if (step) outcome = deliver(&value, self, (struct step_object *)step);
        Py_XDECREF(step);
        if (outcome == RAISED) rename_stop();
        if (outcome != TRY_AGAIN) return value;
    }
    return NULL;
}

static PyObject *iterator_next(PyObject *object) {
    struct iterator_object *self = (struct iterator_object *)object;
    loader_begin_wait(self->source);
    PyObject *value = next(self);
    loader_end_wait(self->source, 1);
    return value;
}

/* Does not ask whether the iterator ends here, because that would end it. */
static PyObject *iterator_repr(PyObject *object) {
    struct iterator_object *self = (struct iterator_object *)object;
    uint64_t epoch, position;
    int is_ended;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)self->source);
    is_ended = self->iteration != self->source->iteration;
    epoch = self->source->epoch;
    position = self->source->position;
    Py_END_CRITICAL_SECTION();
    if (is_ended) return PyUnicode_FromString("<recmap iterator of a loader, ended>");
    return PyUnicode_FromFormat(
        "<recmap iterator of a loader: epoch %" PRIu64 ", position %" PRIu64 ">", epoch, position);
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
    struct iterator_object *self = (struct iterator_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->source);
    Py_VISIT(self->prepare);
    Py_VISIT(self->convert);
    return 0;
}

static void dealloc(PyObject *object) {
    struct iterator_object *self = (struct iterator_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF((PyObject *)self->source);
    Py_XDECREF(self->prepare);
    Py_XDECREF(self->convert);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_new, iterator_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_repr, iterator_repr},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, iterator_next},
    {Py_tp_doc, "The steps of one `for` over a loader."},
    {0, NULL},
};

PyType_Spec iterator_spec = {
    .name = "recmap._recmap.Iterator",
    .basicsize = sizeof(struct iterator_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
