#include "base/items.h"

int take_items(struct items *items, PyObject *object, recmap_type type) {
    *items = (struct items){.type = type, .array = ARRAY_VIEW_INIT};
    if (PyList_Check(object)) {
        items->list = object;
        items->count = (size_t)PyList_Size(object);
        return 1;
    }
    size_t size = type == RECMAP_TYPE_FLOAT ? sizeof(float) : sizeof(int64_t);
    if (!take_array_of(object, &items->array, size, PyBUF_SIMPLE)) return 0;
    items->count = items->array.count;
    return 1;
}

void items_release(struct items *items) {
    array_release(&items->array);
}

int item_at(recmap_value *value, const struct items *items, size_t i) {
    if (items->list) {
        PyObject *item = PySequence_GetItem(items->list, (Py_ssize_t)i);
        int is_taken = item && take_value(item, value);
        Py_XDECREF(item); /* the list keeps it */
        return is_taken;
    }
    value->type = items->type;
    if (items->type == RECMAP_TYPE_FLOAT) value->as.float32 = ((const float *)items->array.data)[i];
    else if (items->type == RECMAP_TYPE_FLOAT64)
        value->as.float64 = ((const double *)items->array.data)[i];
    else value->as.int64 = ((const int64_t *)items->array.data)[i];
    return 1;
}
