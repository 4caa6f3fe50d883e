#include <recmap/record.h>

const char *recmap_type_name(recmap_type type) {
    switch (type) {
    case RECMAP_TYPE_INT64: return "int64";
    case RECMAP_TYPE_FLOAT: return "float";
    case RECMAP_TYPE_BYTES: return "bytes";
    case RECMAP_TYPE_FLOAT64: return "float64";
    case RECMAP_TYPE_NONE: break;
    }
    return "none";
}
