/* EXIF is a TIFF file: a byte order, and directories of tagged entries. The orientation is a tag of
 * the first directory. Source: CIPA DC-008 (EXIF 2.32), section 4.6. */
#include "base/core/bytes.h"
#include "parse/image/header.h"

enum { ORIENTATION_TAG = 0x112, SHORT_TYPE = 3, ENTRY_SIZE = 12 };

static uint16_t load16_of(const uint8_t *data, bool is_big) {
    uint16_t value = load16(data);
    return is_big ? __builtin_bswap16(value) : value;
}

static uint32_t load32_of(const uint8_t *data, bool is_big) {
    uint32_t value = load32(data);
    return is_big ? __builtin_bswap32(value) : value;
}

uint8_t exif_orientation(const uint8_t *data, size_t size) {
    if (size < 8) return 1;
    const bool is_big = data[0] == 'M' && data[1] == 'M';
    if (!is_big && !(data[0] == 'I' && data[1] == 'I')) return 1;
    if (load16_of(data + 2, is_big) != 42) return 1;
    uint64_t at = load32_of(data + 4, is_big);
    if (!bytes_fit(at, 2, size)) return 1;
    unsigned count = load16_of(data + at, is_big);
    at += 2;
    for (unsigned i = 0; i < count && bytes_fit(at, ENTRY_SIZE, size); i++, at += ENTRY_SIZE) {
        const uint8_t *entry = data + at;
        if (load16_of(entry, is_big) != ORIENTATION_TAG) continue;
        uint16_t value = load16_of(entry + 8, is_big);
        bool is_known = load16_of(entry + 2, is_big) == SHORT_TYPE && value >= 1 && value <= 8;
        return is_known ? (uint8_t)value : 1;
    }
    return 1;
}
