#include "base/core/proto.h"

#include <stdlib.h>

uint8_t *proto_pack(size_t *size, const ProtobufCMessage *message, size_t room) {
    size_t packed_size = protobuf_c_message_get_packed_size(message);
    uint8_t *packed = malloc(packed_size + room + 1);
    if (!packed) return NULL;
    *size = protobuf_c_message_pack(message, packed);
    return packed;
}

/* protobuf-c returns NULL for malformed bytes, for lack of memory, and if an allocation fails
 * because of the limit. This allocator records the second case. The limit counts every allocation,
 * also those that were released. */
struct limited_memory {
    size_t left;
    bool is_out;
};

static void *allocate(void *context, size_t size) {
    enum { OVERHEAD = 16 };
    struct limited_memory *limited = context;
    if (size > SIZE_MAX - OVERHEAD || size + OVERHEAD > limited->left) return NULL;
    limited->left -= size + OVERHEAD;
    void *memory = malloc(size ? size : 1);
    if (!memory) limited->is_out = true;
    return memory;
}

static void release(void *context, void *memory) {
    (void)context;
    free(memory);
}

static size_t limit_of(size_t size, size_t growth) {
    bool is_huge = size > (SIZE_MAX - PROTO_FREE_SIZE) / growth;
    return is_huge ? SIZE_MAX : PROTO_FREE_SIZE + size * growth;
}

void *proto_unpack(bool *out_of_memory, const ProtobufCMessageDescriptor *type,
                   const uint8_t *bytes, size_t size) {
    return proto_unpack_limited(out_of_memory, type, bytes, size, PROTO_GROWTH);
}

void *proto_unpack_limited(bool *out_of_memory, const ProtobufCMessageDescriptor *type,
                           const uint8_t *bytes, size_t size, size_t growth) {
    struct limited_memory limited = {.left = limit_of(size, growth)};
    ProtobufCAllocator allocator = {allocate, release, &limited};
    void *message = protobuf_c_message_unpack(type, &allocator, size, bytes);
    *out_of_memory = limited.is_out;
    return message;
}
