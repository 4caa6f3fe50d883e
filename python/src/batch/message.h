/* The class MessageType: a type of messages. */
#ifndef RECMAP_PYTHON_BATCH_MESSAGE_H
#define RECMAP_PYTHON_BATCH_MESSAGE_H

#include "base/python.h"

#include <recmap/message.h>

/* Converts a MessageType, or None (NULL), for the format "O&". The type is borrowed. */
int take_message_type(PyObject *object, void *type);

#endif
