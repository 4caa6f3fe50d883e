/* Prefix CRCs of a byte range, one every 4 KiB. The CRC of any long piece of the range follows from
 * two of them, without reading the piece again. This keeps the search for the next good record
 * after damage to a single pass, even if the bytes were crafted to look like the headers of long
 * records. Pure. */
#ifndef RECMAP_FORMAT_FRAMING_CRC_SUMS_H
#define RECMAP_FORMAT_FRAMING_CRC_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crc_sums {
    const uint8_t *bytes; /* NULL if nothing is summed yet */
    uint64_t first;       /* where the range starts */
    uint32_t *sums;       /* sums[i]: the CRC of the range's first 4 KiB * i bytes */
    size_t count;
    size_t capacity;
};

#define CRC_SUMS_INIT                                                                              \
    { NULL, 0, NULL, 0, 0 }

/* Forgets the sums but keeps their memory. Call it before passing other bytes. */
void crc_sums_clear(struct crc_sums *sums);
void crc_sums_deinit(struct crc_sums *sums);

/* Computes the CRC-32C of bytes[from, from + size). Pieces may overlap. A piece that starts before
 * all earlier ones restarts the sums. Returns false if memory runs out. */
bool crc_sums_piece(uint32_t *crc, struct crc_sums *sums, const uint8_t *bytes, uint64_t from,
                    uint64_t size);

#endif
