/* The class Parser: compiled features. */
#ifndef RECMAP_PYTHON_BATCH_PARSER_H
#define RECMAP_PYTHON_BATCH_PARSER_H

#include "base/python.h"

struct parser_object {
    PyObject_HEAD
    recmap_parser *parser;
};

/* Converts a Parser, or None (NULL), for the format "O&". The parser is borrowed. */
int take_parser(PyObject *object, void *parser);

#endif
