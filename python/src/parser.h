/* A parser as an object: features compiled once. */
#ifndef RECMAP_PYTHON_PARSER_H
#define RECMAP_PYTHON_PARSER_H

#include "python.h"

typedef struct parser_object {
    PyObject_HEAD
    recmap_parser *parser;
} parser_object;

/* The parser of a Parser or of None (NULL): a converter for "O&", which borrows. */
int take_parser(PyObject *object, void *parser);

#endif
