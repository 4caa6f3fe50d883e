/* Where ids and columns of messages are, which Python holds as capsules. */
#ifndef RECMAP_PYTHON_INDEX_EXTRACTION_H
#define RECMAP_PYTHON_INDEX_EXTRACTION_H

#include "base/python.h"

#include <recmap/message.h>

#define MESSAGE_LIFT_CAPSULE "recmap.message_lift"

/* Converts such a capsule to the recmap_message_lift that it owns. None leaves *lift unchanged. */
int take_message_lift(PyObject *object, void *lift);

#endif
