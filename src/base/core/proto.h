/* Encodes protobuf messages to malloc'ed bytes and back, the part that protobuf-c's generated code
 * leaves to its callers. */
#ifndef RECMAP_BASE_CORE_PROTO_H
#define RECMAP_BASE_CORE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/* What a message may take in memory: so many times its size, and a fixed amount. Without a limit,
 * two bytes of an empty message could take over a hundred. */
enum { PROTO_GROWTH = 4, PROTO_FREE_SIZE = 4 << 20 };

/* Encodes the message and leaves `room` unused bytes at the end. Returns NULL if memory runs out.
 */
uint8_t *proto_pack(size_t *size, const ProtobufCMessage *message, size_t room);

/* Decodes a message, to be freed with its own free_unpacked (without an allocator). Returns NULL if
 * the bytes are malformed, take more memory than the limit, or memory runs out; `out_of_memory`
 * tells whether it is the last. */
void *proto_unpack(bool *out_of_memory, const ProtobufCMessageDescriptor *type,
                   const uint8_t *bytes, size_t size);

/* The same, but the message may take `growth` times its size instead of PROTO_GROWTH times. */
void *proto_unpack_limited(bool *out_of_memory, const ProtobufCMessageDescriptor *type,
                           const uint8_t *bytes, size_t size, size_t growth);

#endif
