/* The names of value types in messages and JSON. */
#ifndef RECMAP_BASE_TYPE_NAME_H
#define RECMAP_BASE_TYPE_NAME_H

#include <recmap/record.h>

/* Returns "int64", "float", "bytes" or, for RECMAP_TYPE_NONE, "none". */
const char *type_name(recmap_type type);

#endif
