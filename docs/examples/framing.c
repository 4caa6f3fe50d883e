/* A custom framing: each record follows its size, a big-endian 32-bit integer. The command loads it
 * from a shared object (cc -shared -fPIC framing.c -o framing.so) with --framing ./framing.so. A
 * program can register it with recmap_framing_register. */
#include <inttypes.h>
#include <stdio.h>

#include <recmap/framing.h>

enum { HEADER_SIZE = 4 };

static recmap_frame_verdict parse(recmap_frame_place *frame, const uint8_t *bytes, size_t size,
                                  recmap_frame_fault *fault, void *context) {
    (void)context;
    uint64_t length = 0;
    for (size_t i = 0; i < HEADER_SIZE && i < size; i++) length = length << 8 | bytes[i];
    if (size < HEADER_SIZE || length > size - HEADER_SIZE) {
        snprintf(fault->reason, sizeof fault->reason,
                 "a record of %" PRIu64 " bytes does not fit into the remaining %zu", length, size);
        return RECMAP_FRAME_BAD;
    }
    frame->size = HEADER_SIZE + length;
    frame->data_offset = HEADER_SIZE;
    frame->data_size = length;
    return RECMAP_FRAME_GOOD;
}

RECMAP_API const recmap_framing *recmap_framing_plugin(void);

const recmap_framing *recmap_framing_plugin(void) {
    static const recmap_framing framing = {
        .version = RECMAP_FRAMING_VERSION, .name = "size32be", .parse = parse};
    return &framing;
}
