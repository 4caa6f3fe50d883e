/* Counting varints without decoding them, many bytes at once. */
#ifndef RECMAP_PARSE_VARINTS_COUNT_VARINTS_H
#define RECMAP_PARSE_VARINTS_COUNT_VARINTS_H

#include <stddef.h>
#include <stdint.h>

/* A count that has reached some byte of a run. Zero-initialized, it is at the first one. */
struct varint_count {
    uint64_t ended; /* varints that end before the byte */
    unsigned begun; /* bytes before it that belong to a varint that has not ended */
};

/* Counts in the first bytes of a run, as far as a whole block of bytes can be looked at together
 * and none of its varints is longer than ten bytes. Returns the number of bytes that were counted,
 * which is 0 if the CPU has no fast path. */
size_t varint_count_blocks(struct varint_count *count, const uint8_t *data, size_t size);

#endif
