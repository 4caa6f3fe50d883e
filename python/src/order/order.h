/* The extension's order, which the Python classes of orders contain. */
#ifndef RECMAP_PYTHON_ORDER_ORDER_H
#define RECMAP_PYTHON_ORDER_ORDER_H

#include "base/python.h"

struct order_object {
    PyObject_HEAD
    recmap_order *order;
};

/* A new object that takes over `order`; raises the error if the status is not OK. */
PyObject *order_wrap(recmap_status status, recmap_order *order, const recmap_error *error);

#endif
