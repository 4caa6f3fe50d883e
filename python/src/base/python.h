/* Python's stable ABI of CPython 3.11, except in free-threaded builds, which have none yet. NumPy
 * is not linked: arrays are passed through the buffer protocol. Include this header first. */
#ifndef RECMAP_PYTHON_BASE_PYTHON_H
#define RECMAP_PYTHON_BASE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <pyconfig.h>
#if !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED)
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <recmap/recmap.h>

/* Casts a method with keyword arguments for a method table. */
#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

#endif
