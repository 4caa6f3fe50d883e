#include "format/framing/crc_sums.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/crc32c.h"

enum { STRIDE = 4096 };

void crc_sums_clear(struct crc_sums *sums) {
    sums->bytes = NULL;
    sums->count = 0;
}

void crc_sums_deinit(struct crc_sums *sums) {
    free(sums->sums);
    *sums = (struct crc_sums)CRC_SUMS_INIT;
}

/* Computes the CRC of the range's first `size` bytes, extending the table as far as needed. */
static bool sum_to(uint32_t *crc, struct crc_sums *sums, uint64_t size) {
    size_t whole = (size_t)(size / STRIDE);
    const uint8_t *begin = sums->bytes + sums->first;
    if (!array_reserve(&sums->sums, &sums->capacity, whole + 1, sizeof *sums->sums)) return false;
    if (!sums->count) sums->sums[sums->count++] = 0;
    for (; sums->count <= whole; sums->count++)
        sums->sums[sums->count] =
            crc32c_extend(sums->sums[sums->count - 1], begin + (sums->count - 1) * STRIDE, STRIDE);
    *crc = crc32c_extend(sums->sums[whole], begin + whole * STRIDE, size % STRIDE);
    return true;
}

/* crc(A B) = crc(A shifted by |B|) ^ crc(B), so the piece's CRC is the difference of two prefix
 * CRCs. */
bool crc_sums_piece(uint32_t *crc, struct crc_sums *sums, const uint8_t *bytes, uint64_t from,
                    uint64_t size) {
    assert(!sums->bytes || sums->bytes == bytes);
    if (!sums->bytes || from < sums->first) {
        sums->bytes = bytes;
        sums->first = from;
        sums->count = 0;
    }
    uint32_t before, with;
    if (!sum_to(&with, sums, from + size - sums->first) ||
        !sum_to(&before, sums, from - sums->first))
        return false;
    *crc = with ^ crc32c_shift(before, size);
    return true;
}
