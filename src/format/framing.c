#include "format/framing.h"

#include <stdarg.h>
#include <stdio.h>

#include <xxhash.h>

bool framing_fits(const struct framing *framing, uint64_t frame_size, uint64_t data_size) {
    if (frame_size < framing->overhead || frame_size - framing->overhead < data_size) return false;
    return framing->overhead_varies || frame_size - framing->overhead == data_size;
}

uint32_t framing_hash(const uint8_t *data, uint64_t size) {
    return (uint32_t)XXH3_64bits(data, (size_t)size);
}

enum frame_verdict frame_is_bad(struct frame_fault *fault, enum frame_verdict verdict,
                                const char *format, ...) {
    if (!fault) return verdict;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->reason, sizeof fault->reason, format, arguments);
    va_end(arguments);
    return verdict;
}
