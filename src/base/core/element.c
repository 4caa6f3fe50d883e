#include <recmap/columns.h>
#include <recmap/feature.h>

#include <string.h>

struct element_row {
    const char *name;
    size_t size;
};

static const struct element_row elements[] = {
    [RECMAP_ELEMENT_NONE] = {NULL, 0},
    [RECMAP_ELEMENT_INT64] = {"int64", 8},
    [RECMAP_ELEMENT_FLOAT32] = {"float32", 4},
    [RECMAP_ELEMENT_BYTES] = {"bytes", sizeof(recmap_bytes)},
    [RECMAP_ELEMENT_INT32] = {"int32", 4},
    [RECMAP_ELEMENT_INT16] = {"int16", 2},
    [RECMAP_ELEMENT_INT8] = {"int8", 1},
    [RECMAP_ELEMENT_UINT64] = {"uint64", 8},
    [RECMAP_ELEMENT_UINT32] = {"uint32", 4},
    [RECMAP_ELEMENT_UINT16] = {"uint16", 2},
    [RECMAP_ELEMENT_UINT8] = {"uint8", 1},
    [RECMAP_ELEMENT_BOOL] = {"bool", 1},
    [RECMAP_ELEMENT_FLOAT16] = {"float16", 2},
    [RECMAP_ELEMENT_BFLOAT16] = {"bfloat16", 2},
    [RECMAP_ELEMENT_FLOAT64] = {"float64", 8},
};

enum { ELEMENT_COUNT = sizeof elements / sizeof *elements };

size_t recmap_element_size(recmap_element element) {
    return (unsigned)element < ELEMENT_COUNT ? elements[element].size : 0;
}

const char *recmap_element_name(recmap_element element) {
    return (unsigned)element < ELEMENT_COUNT ? elements[element].name : NULL;
}

recmap_element recmap_element_of_name(const char *name) {
    if (strcmp(name, "float") == 0) return RECMAP_ELEMENT_FLOAT32;
    if (strcmp(name, "string") == 0) return RECMAP_ELEMENT_BYTES;
    for (unsigned i = 1; i < ELEMENT_COUNT; i++)
        if (strcmp(name, elements[i].name) == 0) return (recmap_element)i;
    return RECMAP_ELEMENT_NONE;
}
