/* How long callers have waited for a loader's batch. Several threads may wait at once: the time is
 * that of the one that waits longest, as far as is known, since the latest batch was delivered. */
#include "base/critical.h"
#include "loader/loader.h"

void loader_begin_wait(struct loader_object *self) {
    Py_BEGIN_CRITICAL_SECTION((PyObject *)self);
    if (!self->waiting_count++) atomic_store(&self->asked_since_ns, loader_clock_ns());
    Py_END_CRITICAL_SECTION();
}

void loader_end_wait(struct loader_object *self, int is_served) {
    Py_BEGIN_CRITICAL_SECTION((PyObject *)self);
    if (!--self->waiting_count) atomic_store(&self->asked_since_ns, 0);
    else if (is_served) atomic_store(&self->asked_since_ns, loader_clock_ns());
    Py_END_CRITICAL_SECTION();
}

uint64_t loader_waited_ns(struct loader_object *self) {
    const uint64_t since_ns = atomic_load(&self->asked_since_ns);
    if (!since_ns) return 0;
    const uint64_t now = loader_clock_ns();
    return now > since_ns ? now - since_ns : 1;
}

/* In C because a signal's handler that raises could divide the beginning of the wait from its end
 * if they were two calls. */
PyObject *loader_while_asked(PyObject *object, PyObject *function) {
    struct loader_object *self = (struct loader_object *)object;
    loader_begin_wait(self);
    PyObject *result = PyObject_CallNoArgs(function);
    loader_end_wait(self, 0);
    return result;
}
