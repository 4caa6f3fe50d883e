/* A step of a loader: a batch or the end of an epoch, on its way from the library to the caller. */
#include "loader/loader.h"

#include <structmember.h>

#include "base/arguments.h"
#include "base/critical.h"
#include "base/module.h"

struct step_object *step_create(void) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(step_type, Py_tp_alloc);
    return (struct step_object *)allocate(step_type, 0);
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
    struct step_object *self = (struct step_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->next);
    Py_VISIT(self->batch);
    Py_VISIT(self->value);
    Py_VISIT(self->error);
    Py_VISIT(self->finished);
    return 0;
}

/* `next` stays: the loader counts on its chain of steps. */
static int clear(PyObject *object) {
    struct step_object *self = (struct step_object *)object;
    Py_CLEAR(self->batch);
    Py_CLEAR(self->value);
    Py_CLEAR(self->error);
    Py_CLEAR(self->finished);
    return 0;
}

static void dealloc(PyObject *object) {
    struct step_object *self = (struct step_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    Py_XDECREF((PyObject *)self->next);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* A thread that reads the status also sees the value or error that was set before it. */
static PyObject *get_status(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromLong(atomic_load(&((struct step_object *)object)->status));
}

static int set_status(PyObject *object, PyObject *status, void *unused) {
    (void)unused;
    unsigned value;
    if (!status || !take_unsigned(status, &value)) return -1;
    atomic_store(&((struct step_object *)object)->status, (int)value);
    return 0;
}

/* replace_status(old, new) -> whether it was `old`. Of several threads, one is told so. */
static PyObject *replace_status(PyObject *object, PyObject *arguments) {
    unsigned old, new;
    if (!PyArg_ParseTuple(arguments, "O&O&:replace_status", take_unsigned, &old, take_unsigned,
                          &new))
        return NULL;
    int expected = (int)old;
    atomic_int *status = &((struct step_object *)object)->status;
    return PyBool_FromLong(atomic_compare_exchange_strong(status, &expected, (int)new));
}

#define OFFSET(field) (Py_ssize_t) offsetof(struct step_object, field)

static PyObject **field_at(PyObject *object, void *offset) {
    return (PyObject **)((char *)object + (uintptr_t)offset);
}

/* Threads that share an iterator read a field while the feeder replaces it. T_OBJECT would take a
 * reference to an object that may be freed already. */
static PyObject *get_field(PyObject *object, void *offset) {
    PyObject *value;
    Py_BEGIN_CRITICAL_SECTION(object);
    value = *field_at(object, offset);
    value = Py_NewRef(value ? value : Py_None);
    Py_END_CRITICAL_SECTION();
    return value;
}

static int set_field(PyObject *object, PyObject *value, void *offset) {
    PyObject *previous;
    Py_XINCREF(value);
    Py_BEGIN_CRITICAL_SECTION(object);
    previous = *field_at(object, offset);
    *field_at(object, offset) = value;
    Py_END_CRITICAL_SECTION();
    Py_XDECREF(previous);
    return 0;
}

static PyGetSetDef properties[] = {
    {"status", get_status, set_status, NULL, NULL},
    {"value", get_field, set_field, NULL, (void *)OFFSET(value)},
    {"error", get_field, set_field, NULL, (void *)OFFSET(error)},
    {"finished", get_field, set_field, NULL, (void *)OFFSET(finished)},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"replace_status", replace_status, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"batch", T_OBJECT, OFFSET(batch), READONLY, NULL},
    {"start_epoch", T_ULONGLONG, OFFSET(start_epoch), READONLY, NULL},
    {"start_position", T_ULONGLONG, OFFSET(start_position), READONLY, NULL},
    {"epoch", T_ULONGLONG, OFFSET(epoch), READONLY, NULL},
    {"position", T_ULONGLONG, OFFSET(position), READONLY, NULL},
    {"skipped_count", T_ULONGLONG, OFFSET(skipped_count), READONLY, NULL},
    {"is_end", T_BOOL, OFFSET(is_end), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_doc, "A step that was taken from the library and not yet delivered."},
    {0, NULL},
};

PyType_Spec step_spec = {
    .name = "recmap._recmap.Step",
    .basicsize = sizeof(struct step_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
