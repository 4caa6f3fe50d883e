/* Runs of varints in bulk: what int64 lists are made of.
 *
 * Of several ways with equal results the fastest that the processor has is chosen when first used.
 */
#ifndef RECMAP_DECODE_VARINTS_H
#define RECMAP_DECODE_VARINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes behind the last value that a decoder may write over. At most BUFFER_SLACK. */
enum { VARINTS_SLACK = 128 };

/* No run. */
#define VARINTS_BAD SIZE_MAX

/* Decodes varints that fill `size` bytes, one behind the other, as int64, and returns how many
 * there are. VARINTS_BAD when the last one does not end, one is longer than ten bytes, or there are
 * more than `capacity`. Bits beyond 64 of a tenth byte are dropped, as libprotobuf drops them.
 * Reads nothing outside the bytes; may write VARINTS_SLACK bytes behind the last value and, where
 * it returns VARINTS_BAD, anything within `capacity` and the slack. */
typedef size_t varints_function(int64_t *values, size_t capacity, const uint8_t *data, size_t size);

extern varints_function varints_portable;
#if defined(__x86_64__) && !defined(RECMAP_PORTABLE)
#define VARINTS_X86 1
extern varints_function varints_avx2, varints_avx512;
#endif

/* The best that this processor has, or what varints_force said. */
varints_function *varints_best(void);

/* For tests and benchmarks: a way whatever the processor is best at, or NULL for the best again.
 * False when the processor cannot go it. */
bool varints_force(varints_function *way);

#endif
