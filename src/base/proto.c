#include "base/proto.h"

#include <stdlib.h>

uint8_t *proto_pack(size_t *size, const ProtobufCMessage *message, size_t room) {
    size_t packed_size = protobuf_c_message_get_packed_size(message);
    uint8_t *packed = malloc(packed_size + room + 1);
    if (!packed) return NULL;
    *size = protobuf_c_message_pack(message, packed);
    return packed;
}

/* protobuf-c returns NULL both for malformed bytes and for lack of memory. This allocator records
 * which. */
static void *allocate(void *out_of_memory, size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory) *(bool *)out_of_memory = true;
    return memory;
}

static void release(void *out_of_memory, void *memory) {
    (void)out_of_memory;
    free(memory);
}

void *proto_unpack(bool *out_of_memory, const ProtobufCMessageDescriptor *type,
                   const uint8_t *bytes, size_t size) {
    *out_of_memory = false;
    ProtobufCAllocator allocator = {allocate, release, out_of_memory};
    return protobuf_c_message_unpack(type, &allocator, size, bytes);
}
