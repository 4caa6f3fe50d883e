/* Converts errors of the library to exceptions. */
#ifndef RECMAP_PYTHON_BASE_ERRORS_H
#define RECMAP_PYTHON_BASE_ERRORS_H

#include "base/python.h"

/* The exception for a number that is out of range; an IndexError. */
extern PyObject *OutOfRangeError;

/* Imports the exceptions of recmap._base.errors. False with an exception set. */
int errors_load(void);

/* Sets the exception for an error of the library and returns NULL. Keeps an exception that is
 * already set, by a callback that then cancelled the operation. */
PyObject *raise_error(const recmap_error *error);

/* The exception for an error of the library, without setting it. */
PyObject *exception_of_error(const recmap_error *error);

/* The same as raise_error for an error of a saved state, instead of an index or a record. */
PyObject *raise_state_error(const recmap_error *error);

/* raise_error for functions that return -1. */
int raise_error_int(const recmap_error *error);

#endif
