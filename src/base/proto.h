/* Protobuf messages as malloc'ed bytes, and bytes as malloc'ed messages: what protobuf-c's
 * generated functions leave to each who uses them. */
#ifndef RECMAP_BASE_PROTO_H
#define RECMAP_BASE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/* The message's bytes, with `room` more behind them; NULL when memory is out. */
uint8_t *proto_pack(size_t *size, const ProtobufCMessage *message, size_t room);

/* The message in the bytes, which its own free_unpacked frees (no allocator). NULL where they hold
 * none, or where memory is out: `out_of_memory` tells which. */
void *proto_unpack(bool *out_of_memory, const ProtobufCMessageDescriptor *type,
                   const uint8_t *bytes, size_t size);

#endif
