/* Encodes protobuf messages to malloc'ed bytes and back, the part that protobuf-c's generated code
 * leaves to its callers. */
#ifndef RECMAP_BASE_PROTO_H
#define RECMAP_BASE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/* Encodes the message and leaves `room` unused bytes at the end. Returns NULL if memory runs out.
 */
uint8_t *proto_pack(size_t *size, const ProtobufCMessage *message, size_t room);

/* Decodes a message, to be freed with its own free_unpacked (without an allocator). Returns NULL if
 * the bytes are malformed or memory runs out; `out_of_memory` tells which. */
void *proto_unpack(bool *out_of_memory, const ProtobufCMessageDescriptor *type,
                   const uint8_t *bytes, size_t size);

#endif
