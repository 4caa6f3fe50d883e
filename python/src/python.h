/* Python's stable ABI, as CPython 3.11 has it. NumPy is not linked: arrays come and go by the
 * buffer protocol. Include this before anything else. */
#ifndef RECMAP_PYTHON_H
#define RECMAP_PYTHON_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <recmap/recmap.h>

/* A method that takes keywords, as a method table wants it. */
#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

#endif
