#include <recmap/columns.h>

#include "parse/decode/read_paths.h"

#define TARGET

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint64_t words16 __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) bytes16 load16_bytes(const uint8_t *bytes) {
    bytes16 loaded;
    memcpy(&loaded, bytes, sizeof loaded);
    return loaded;
}

static inline __attribute__((always_inline)) bytes16
difference(const struct prefix *prefix, const uint8_t *entry, bytes16 size, size_t at) {
    bytes16 expected = load16_bytes(prefix->bytes + at) +
                       (size & load16_bytes(prefix->lengths + at));
    return (expected ^ load16_bytes(entry + at)) & load16_bytes(prefix->care + at);
}

static inline __attribute__((always_inline)) bool
prefix_differs(const struct prefix *prefix, const uint8_t *entry, uint8_t size) {
    bytes16 sizes = (bytes16){0} + size;
    words16 found =
        (words16)(difference(prefix, entry, sizes, 0) | difference(prefix, entry, sizes, 16));
    return (found[0] | found[1]) != 0;
}

/* Removes the top bit of each byte by merging groups of 7 bits in pairs, then groups of 14, then of
 * 28. */
static inline __attribute__((always_inline)) uint64_t varint_value(uint64_t word, size_t size) {
    uint64_t x = word & UINT64_C(0x7f7f7f7f7f7f7f7f) >> (64 - 8 * size);
    x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
}

#include "parse/decode/read_fast_body.inc"

bool read_fast_portable(struct sink *sinks, struct read_scratch *scratch,
                        const recmap_parser *parser, const uint8_t *data, size_t size, size_t row) {
    return read_fast(sinks, scratch, parser, data, size, row);
}
