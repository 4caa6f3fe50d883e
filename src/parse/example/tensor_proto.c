#include "parse/example/tensor_proto.h"

#include <inttypes.h>
#include <stdio.h>

#include "parse/example/wire.h"

enum {
    DTYPE_TAG = 1 << 3 | WIRE_VARINT,
    SHAPE_TAG = 2 << 3 | WIRE_BYTES,
    DIMENSION_TAG = 2 << 3 | WIRE_BYTES, /* of TensorShapeProto */
    SIZE_TAG = 1 << 3 | WIRE_VARINT,     /* of a dimension */
    FIELD_MAX = 17,                      /* the highest field number of a TensorProto */
};

/* Returns the name of a tensorflow.DataType, or NULL. */
static const char *dtype_name(uint64_t dtype) {
    static const char *const names[] = {
        [1] = "float32",     [2] = "float64",  [3] = "int32",     [4] = "uint8",
        [5] = "int16",       [6] = "int8",     [7] = "string",    [8] = "complex",
        [9] = "int64",       [10] = "bool",    [14] = "bfloat16", [17] = "uint16",
        [18] = "complex128", [19] = "float16", [22] = "uint32",   [23] = "uint64",
    };
    return dtype < sizeof names / sizeof *names ? names[dtype] : NULL;
}

static bool read_dimension(uint64_t *size, struct wire dimension, struct wire_trace *trace) {
    *size = 0;
    while (!wire_done(&dimension)) {
        uint32_t tag;
        if (!wire_read_tag(&tag, &dimension, trace)) return false;
        if (tag == SIZE_TAG ? !wire_read_varint(size, &dimension, trace)
                            : !wire_skip(&dimension, tag, 2, trace))
            return false;
    }
    return true;
}

/* Appends " [28, 28]", or what fits. */
static bool write_shape(char *text, size_t capacity, struct wire shape, struct wire_trace *trace) {
    size_t used = (size_t)snprintf(text, capacity, " [");
    const char *between = "";
    while (!wire_done(&shape)) {
        uint32_t tag;
        uint64_t dimension;
        struct wire body;
        if (!wire_read_tag(&tag, &shape, trace) || tag != DIMENSION_TAG ||
            !wire_read_bytes(&body, &shape, trace) || !read_dimension(&dimension, body, trace))
            return false;
        if (capacity - used < 24) continue; /* the longest number, a separator and the end */
        used += (size_t)snprintf(text + used, capacity - used, "%s%" PRIu64, between, dimension);
        between = ", ";
    }
    snprintf(text + used, capacity - used, "]");
    return true;
}

/* The type and the shape come first, as every writer orders fields, and no field is unknown: bytes
 * of another kind have all this only by a rare accident. */
bool tensor_proto_describe(char text[TENSOR_PROTO_TEXT_SIZE], const uint8_t *data, size_t size) {
    struct wire tensor = {data, data + size}, shape;
    struct wire_trace trace = {0};
    uint64_t dtype;
    uint32_t tag;
    if (size == 0 || !wire_read_tag(&tag, &tensor, &trace) || tag != DTYPE_TAG ||
        !wire_read_varint(&dtype, &tensor, &trace) || !dtype_name(dtype) ||
        !wire_read_tag(&tag, &tensor, &trace) || tag != SHAPE_TAG ||
        !wire_read_bytes(&shape, &tensor, &trace))
        return false;
    size_t used = (size_t)snprintf(text, TENSOR_PROTO_TEXT_SIZE, "%s", dtype_name(dtype));
    if (!write_shape(text + used, TENSOR_PROTO_TEXT_SIZE - used, shape, &trace)) return false;
    while (!wire_done(&tensor))
        if (!wire_read_tag(&tag, &tensor, &trace) || tag >> 3 < 2 || tag >> 3 > FIELD_MAX ||
            !wire_skip(&tensor, tag, 0, &trace))
            return false;
    return true;
}
