/* Bulk decoding of runs of varints, the contents of int64 lists.
 *
 * Several implementations give the same results. The fastest one that the CPU supports is chosen on
 * first use. */
#ifndef RECMAP_PARSE_VARINTS_VARINTS_H
#define RECMAP_PARSE_VARINTS_VARINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of bytes past the last value that a decoder may overwrite; at most BUFFER_SLACK. */
enum { VARINTS_SLACK = 128 };

enum { VARINT_SIZE_MAX = 10 };

/* Returned for malformed runs. */
#define VARINTS_BAD SIZE_MAX

/* Decodes consecutive varints that fill `size` bytes as int64 and returns their number. Returns
 * VARINTS_BAD if the last one is incomplete, one has more than ten bytes, or there are more than
 * `capacity`. Bits above 64 in a tenth byte are ignored, as in libprotobuf. Reads only the given
 * bytes. May overwrite VARINTS_SLACK bytes past the last value; on VARINTS_BAD, everything within
 * `capacity` and the slack is undefined. */
typedef size_t varints_function(int64_t *values, size_t capacity, const uint8_t *data, size_t size);

extern varints_function varints_portable;
#if defined(__x86_64__) && !defined(RECMAP_PORTABLE)
#define VARINTS_X86 1
extern varints_function varints_avx2, varints_avx512;
#endif
/* Every 64-bit ARM has NEON. */
#if defined(__AARCH64EL__) && !defined(RECMAP_PORTABLE)
#define VARINTS_NEON 1
extern varints_function varints_neon;
#endif

/* Returns the implementation set by varints_force, or else the fastest one that the CPU supports.
 */
varints_function *varints_best(void);

/* Returns the size of a prefix of whole varints of at most `max` bytes, or 0 if the first ten bytes
 * before that size are all in one varint. `max` is at least VARINT_SIZE_MAX. */
size_t varints_cut(const uint8_t *data, size_t size, size_t max);

/* For tests and benchmarks: selects an implementation, or the fastest one if NULL. Returns false if
 * the CPU does not support it. */
bool varints_force(varints_function *path);

#endif
