/* CRC-32C (Castagnoli), and TFRecord's mask over it. */
#ifndef RECMAP_BASE_CRC32C_H
#define RECMAP_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C of `size` bytes, any size. */
uint32_t crc32c(const void *data, size_t size);

/* CRC-32C of a and b one behind the other, from the CRC of a: extend(crc32c(a), b). */
uint32_t crc32c_extend(uint32_t crc, const void *data, size_t size);

/* What `size` bytes behind data add to its CRC, apart from their own: the CRC of a and b, one
 * behind the other, is shift(crc32c(a), size of b) ^ crc32c(b). Cost: under a microsecond at any
 * size. */
uint32_t crc32c_shift(uint32_t crc, uint64_t size);

/* TFRecord stores CRCs rotated and shifted, so that a CRC over data that holds CRCs stays sound. */
static inline uint32_t crc32c_mask(uint32_t crc) {
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

#endif
