#include "base/crc32c.h"

#include <limits.h>

#include <isa-l/crc.h>

/* ISA-L takes an int for the size and leaves the inversions to the caller. */
static uint32_t update(uint32_t state, const uint8_t *data, size_t size) {
    const size_t most = (size_t)INT_MAX & ~(size_t)63;
    while (size > most) {
        state = crc32_iscsi((unsigned char *)data, (int)most, state);
        data += most;
        size -= most;
    }
    return crc32_iscsi((unsigned char *)data, (int)size, state);
}

uint32_t crc32c(const void *data, size_t size) {
    return ~update(~0u, data, size);
}

uint32_t crc32c_extend(uint32_t crc, const void *data, size_t size) {
    return ~update(~crc, data, size);
}
