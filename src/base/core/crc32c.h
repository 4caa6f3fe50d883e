/* CRC-32C (Castagnoli), and TFRecord's masked form of it. */
#ifndef RECMAP_BASE_CORE_CRC32C_H
#define RECMAP_BASE_CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC-32C of `size` bytes. */
uint32_t crc32c(const void *data, size_t size);

/* The CRC-32C of a concatenation: crc32c_extend(crc32c(a), b) is the CRC of a followed by b. */
uint32_t crc32c_extend(uint32_t crc, const void *data, size_t size);

/* How `size` more bytes change a CRC, apart from their contents: the CRC of a followed by b is
 * crc32c_shift(crc32c(a), size of b) ^ crc32c(b). Takes less than a microsecond for any size. */
uint32_t crc32c_shift(uint32_t crc, uint64_t size);

/* TFRecord stores masked CRCs, because a CRC over data that contains its own CRC is weak. */
static inline uint32_t crc32c_mask(uint32_t crc) {
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

#endif
