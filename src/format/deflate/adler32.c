#include "format/deflate/adler32.h"

#if defined(__x86_64__) && !defined(RECMAP_PORTABLE)

#include <isa-l/igzip_lib.h>

uint32_t adler32_add(uint32_t sum, const uint8_t *data, size_t size) {
    return isal_adler32(sum, data, size);
}

#else

/* ISA-L 2.30, built for aarch64 and run under qemu, gives wrong sums of 32 bytes and more, so only
 * x86-64 uses it. */

enum {
    MODULUS = 65521,  /* the largest prime below 2^16 */
    BYTES_MAX = 5552, /* of 255, after which the sums still fit in 32 bits */
};

uint32_t adler32_add(uint32_t sum, const uint8_t *data, size_t size) {
    uint32_t low = sum & 0xffff, high = sum >> 16;
    while (size) {
        size_t count = size < BYTES_MAX ? size : BYTES_MAX;
        for (size_t i = 0; i < count; i++) {
            low += data[i];
            high += low;
        }
        low %= MODULUS;
        high %= MODULUS;
        data += count;
        size -= count;
    }
    return high << 16 | low;
}

#endif
