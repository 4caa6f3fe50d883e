/* Which records are read if not all are: the first, the last, and a random one from each of equal
 * parts between them, always the same ones. Evenly spaced records could all lack what every tenth
 * record has. */
#ifndef RECMAP_BASE_WORDS_SAMPLE_H
#define RECMAP_BASE_WORDS_SAMPLE_H

#include <stdint.h>

/* The size of a sample of `wanted` of `count` records: all of them if 0 or at least `count` are
 * wanted, or at least 2^32. */
uint64_t sample_clamp(uint64_t wanted, uint64_t count);

/* The position of record `index` of a sample of `size` of `count` records; `size` is from
 * sample_clamp. Ascends with `index`. */
uint64_t sample_position(uint64_t index, uint64_t size, uint64_t count);

/* The first position of part `index` of `size` equal parts of `count` records; `size` is from
 * sample_clamp. */
uint64_t sample_part_start(uint64_t index, uint64_t size, uint64_t count);

#endif
