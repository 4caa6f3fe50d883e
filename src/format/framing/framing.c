#include "format/framing/framing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/core/hash.h"
#include "base/words/cut_file.h"

bool framing_fits(const struct framing *framing, uint64_t frame_size, uint64_t data_size) {
    if (frame_size < framing->overhead || frame_size - framing->overhead < data_size) return false;
    return framing->overhead_varies || frame_size - framing->overhead == data_size;
}

uint32_t framing_hash(const uint8_t *data, uint64_t size) {
    return (uint32_t)XXH3_64bits(data, (size_t)size);
}

enum frame_verdict frame_is_cut(struct frame_fault *fault, const char *format, ...) {
    if (!fault) return FRAME_BAD_LENGTH;
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof fault->reason - sizeof FILE_IS_CUT;
    int length = vsnprintf(fault->reason, room + 1, format, arguments);
    va_end(arguments);
    size_t end = length < 0 ? 0 : (size_t)length < room ? (size_t)length : room;
    memcpy(fault->reason + end, FILE_IS_CUT, sizeof FILE_IS_CUT);
    return FRAME_BAD_LENGTH;
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
