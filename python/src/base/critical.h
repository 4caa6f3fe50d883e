/* Critical sections of one object: what other threads must not see half done.
 *
 * With the GIL they are empty, because the GIL is held. In a free-threaded build they lock the
 * object. Like the GIL, they are released while the thread is detached (Py_BEGIN_ALLOW_THREADS),
 * and anything that can run Python code may release them for a while. */
#ifndef RECMAP_PYTHON_BASE_CRITICAL_H
#define RECMAP_PYTHON_BASE_CRITICAL_H

#include "base/python.h"

#ifndef Py_GIL_DISABLED
#undef Py_BEGIN_CRITICAL_SECTION
#undef Py_END_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

/* Defines `locked_METHOD`, which calls a method of an object in its critical section. */
#define LOCKED_METHOD(method)                                                                      \
    static PyObject *locked_##method(PyObject *object, PyObject *argument) {                       \
        PyObject *result;                                                                          \
        Py_BEGIN_CRITICAL_SECTION(object);                                                         \
        result = method(object, argument);                                                         \
        Py_END_CRITICAL_SECTION();                                                                 \
        return result;                                                                             \
    }

#endif
