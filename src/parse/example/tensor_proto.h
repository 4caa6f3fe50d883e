/* tensorflow.TensorProto: what tf.io.serialize_tensor writes. */
#ifndef RECMAP_PARSE_EXAMPLE_TENSOR_PROTO_H
#define RECMAP_PARSE_EXAMPLE_TENSOR_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENSOR_PROTO_TEXT_SIZE = 120 };

/* Writes the type and shape of a serialized tensor, such as "float32 [28, 28]". Returns false if
 * the bytes are not one. */
bool tensor_proto_describe(char text[TENSOR_PROTO_TEXT_SIZE], const uint8_t *data, size_t size);

#endif
