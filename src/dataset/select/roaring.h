/* Sets of record numbers in Roaring's portable format for 64-bit integers, which
 * https://github.com/RoaringBitmap/RoaringFormatSpec specifies. Pure. */
#ifndef RECMAP_DATASET_SELECT_ROARING_H
#define RECMAP_DATASET_SELECT_ROARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a set of `count` numbers, which ascend strictly. */
size_t roaring_size(const uint64_t *numbers, size_t count);

/* The largest size of a set of `count` numbers below `limit`, by any writer, or UINT64_MAX. */
uint64_t roaring_size_max(uint64_t count, uint64_t limit);

/* Writes the set to `bytes`, which has room for roaring_size bytes. */
void roaring_pack(uint8_t *bytes, const uint64_t *numbers, size_t count);

/* Reads a set of exactly `count` numbers below `limit` from exactly `size` bytes. Returns false if
 * the bytes are anything else; `numbers` is then undefined. */
bool roaring_unpack(uint64_t *numbers, size_t count, uint64_t limit, const uint8_t *bytes,
                    size_t size);

#endif
