/* CRCs of the beginnings of a stretch of bytes, at every 4 KiB: by these the CRC of any long piece
 * of it is known without reading the piece again. What makes looking for a way back after damage
 * cost one pass, even through bytes made to look like headers of long records. Pure. */
#ifndef RECMAP_FORMAT_CRC_SUMS_H
#define RECMAP_FORMAT_CRC_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crc_sums {
    const uint8_t *bytes; /* NULL: nothing is summed yet */
    uint64_t first;       /* where the sums begin */
    uint32_t *sums;       /* sums[i]: the CRC of 4 KiB * i bytes from there on */
    size_t count;
    size_t capacity;
};

#define CRC_SUMS_INIT                                                                              \
    { NULL, 0, NULL, 0, 0 }

/* Forgets the sums; the memory stays. To be called when the bytes are others. */
void crc_sums_clear(struct crc_sums *sums);
void crc_sums_free(struct crc_sums *sums);

/* The CRC-32C of bytes[from, from + size). Pieces asked for may overlap; one that begins before all
 * others starts the sums anew. False when memory is out. */
bool crc_sums_piece(uint32_t *crc, struct crc_sums *sums, const uint8_t *bytes, uint64_t from,
                    uint64_t size);

#endif
