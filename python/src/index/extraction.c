#include "index/extraction.h"

int take_message_lift(PyObject *object, void *lift) {
    if (object == Py_None) return 1;
    recmap_message_lift *pointer = PyCapsule_GetPointer(object, MESSAGE_LIFT_CAPSULE);
    if (pointer) *(recmap_message_lift **)lift = pointer;
    return pointer != NULL;
}
