#include "base/text.h"

#include "base/errors.h"

PyObject *text_take(recmap_text *text, recmap_status status, const recmap_error *error) {
    PyObject *taken = status == RECMAP_OK
                          ? PyUnicode_DecodeUTF8(text->data ? text->data : "",
                                                 (Py_ssize_t)text->size, "surrogateescape")
                          : raise_error(error);
    recmap_text_deinit(text);
    return taken;
}
