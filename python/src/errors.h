/* The one place where a recmap_error becomes an exception. */
#ifndef RECMAP_PYTHON_ERRORS_H
#define RECMAP_PYTHON_ERRORS_H

#include "python.h"

/* The exception of a number that a sequence does not have; an IndexError. */
extern PyObject *OutOfRangeError;

/* Finds the exceptions (recmap._errors). False with an exception set. */
int errors_load(void);

/* Sets the exception for an error of the library and returns NULL. An exception that is set already
 * (by a callback that then cancelled the operation) stays. */
PyObject *raise_error(const recmap_error *error);

/* The same from a function that returns -1. */
int raise_error_int(const recmap_error *error);

#endif
