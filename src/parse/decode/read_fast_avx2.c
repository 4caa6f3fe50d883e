#include <recmap/columns.h>

#include "parse/decode/read_paths.h"

#ifdef READ_FAST_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2")))

TARGET static inline __attribute__((always_inline)) bool
prefix_differs(const struct prefix *prefix, const uint8_t *entry, uint8_t size) {
    __m256i lengths = _mm256_load_si256((const __m256i *)(const void *)prefix->lengths);
    __m256i expected =
        _mm256_add_epi8(_mm256_load_si256((const __m256i *)(const void *)prefix->bytes),
                        _mm256_and_si256(_mm256_set1_epi8((char)size), lengths));
    __m256i found = _mm256_loadu_si256((const __m256i *)(const void *)entry);
    __m256i care = _mm256_load_si256((const __m256i *)(const void *)prefix->care);
    return !_mm256_testz_si256(_mm256_xor_si256(expected, found), care);
}

TARGET static inline __attribute__((always_inline)) uint64_t varint_value(uint64_t word,
                                                                          size_t size) {
    return _pext_u64(word, UINT64_C(0x7f7f7f7f7f7f7f7f) >> (64 - 8 * size));
}

#include "parse/decode/read_fast_body.inc"

TARGET bool read_fast_avx2(struct sink *sinks, struct read_scratch *scratch,
                           const recmap_parser *parser, const uint8_t *data, size_t size,
                           size_t row) {
    return read_fast(sinks, scratch, parser, data, size, row);
}
#endif
