/* Texts of the library as strings. */
#ifndef RECMAP_PYTHON_BASE_TEXT_H
#define RECMAP_PYTHON_BASE_TEXT_H

#include "base/python.h"

/* The text as a new string, or NULL with the exception of the error if the status is not OK. The
 * text is freed in both cases. Bytes that are not UTF-8, as in paths, become lone surrogates. */
PyObject *text_take(recmap_text *text, recmap_status status, const recmap_error *error);

#endif
