#include "index/lifted.h"

#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "base/bytes.h"

/* A chunk starts with a prefix: u8 type, u8 width, u16 zero, u32 count, i64 base (0 unless the
 * values are integers). */

struct integer_range {
    int64_t base;
    unsigned width;
};

static struct integer_range range_of(const struct column_values *values) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 0; i < values->count; i++) {
        int64_t v = (int64_t)values->words[i];
        if (v < low) low = v;
        if (v > high) high = v;
    }
    if (!values->count) return (struct integer_range){0, 0};
    unsigned bits = bit_length((uint64_t)high - (uint64_t)low);
    return (struct integer_range){low, bits == 0    ? 0
                                       : bits <= 8  ? 1
                                       : bits <= 16 ? 2
                                       : bits <= 32 ? 4
                                                    : 8};
}

static uint64_t bytes_total(const struct column_values *values) {
    return values->count ? values->words[values->count - 1] : 0;
}

size_t column_packed_size(const struct column_values *values) {
    switch (values->type) {
    case RECMAP_TYPE_INT64: return COLUMN_PREFIX_SIZE + values->count * range_of(values).width;
    case RECMAP_TYPE_FLOAT: return COLUMN_PREFIX_SIZE + values->count * 4;
    case RECMAP_TYPE_BYTES:
        return COLUMN_PREFIX_SIZE + values->count * 4 + (size_t)bytes_total(values);
    case RECMAP_TYPE_NONE: break;
    }
    return COLUMN_PREFIX_SIZE;
}

static void store_integer(uint8_t *bytes, unsigned width, uint64_t value) {
    uint8_t eight[8];
    store64(eight, value);
    memcpy(bytes, eight, width);
}

void column_pack(uint8_t *bytes, const struct column_values *values) {
    struct integer_range range = {0, 0};
    if (values->type == RECMAP_TYPE_INT64) range = range_of(values);
    if (values->type == RECMAP_TYPE_FLOAT || values->type == RECMAP_TYPE_BYTES) range.width = 4;
    memset(bytes, 0, COLUMN_PREFIX_SIZE);
    bytes[0] = (uint8_t)values->type;
    bytes[1] = (uint8_t)range.width;
    store32(bytes + 4, (uint32_t)values->count);
    store64(bytes + 8, (uint64_t)range.base);
    if (values->type == RECMAP_TYPE_NONE) return;
    uint8_t *word = bytes + COLUMN_PREFIX_SIZE;
    for (size_t i = 0; i < values->count; i++, word += range.width)
        store_integer(word, range.width, values->words[i] - (uint64_t)range.base);
    if (values->type == RECMAP_TYPE_BYTES && bytes_total(values))
        memcpy(word, values->bytes, (size_t)bytes_total(values));
}

static bool ends_are_valid(const struct column_chunk *chunk, uint64_t size) {
    uint32_t end = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        uint32_t next = load32(chunk->words + 4 * i);
        if (next < end) return false;
        end = next;
    }
    return end == size;
}

/* Checks type, width and sizes, and for values of bytes that their ends ascend: after that any
 * value can be read without looking at others. */
bool column_open(struct column_chunk *chunk, const uint8_t *bytes, size_t size, size_t count) {
    if (size < COLUMN_PREFIX_SIZE || load32(bytes + 4) != count) return false;
    unsigned type = bytes[0], width = bytes[1];
    struct column_chunk opened = {
        .type = (recmap_type)type,
        .count = count,
        .width = width,
        .base = (int64_t)load64(bytes + 8),
        .words = bytes + COLUMN_PREFIX_SIZE,
    };
    uint64_t body = size - COLUMN_PREFIX_SIZE;
    uint64_t words = (uint64_t)count * width;
    if (width > 8 || (width & (width - 1)) || words > body) return false;
    opened.bytes = opened.words + words;
    opened.bytes_size = (size_t)(body - words);
    if (type == RECMAP_TYPE_BYTES) {
        if (width != 4 || !ends_are_valid(&opened, body - words)) return false;
    } else if (type > RECMAP_TYPE_BYTES || words != body ||
               (type == RECMAP_TYPE_FLOAT && width != 4) || (type == RECMAP_TYPE_NONE && width)) {
        return false;
    }
    *chunk = opened;
    return true;
}

static uint64_t load_integer(const uint8_t *bytes, unsigned width) {
    switch (width) {
    case 1: return bytes[0];
    case 2: return load16(bytes);
    case 4: return load32(bytes);
    case 8: return load64(bytes);
    default: return 0;
    }
}

recmap_value column_at(const struct column_chunk *chunk, size_t i) {
    assert(i < chunk->count);
    recmap_value value = {.type = chunk->type};
    uint64_t word = load_integer(chunk->words + i * chunk->width, chunk->width);
    if (chunk->type == RECMAP_TYPE_INT64) {
        value.as.int64 = (int64_t)((uint64_t)chunk->base + word);
    } else if (chunk->type == RECMAP_TYPE_FLOAT) {
        uint32_t bits = (uint32_t)word;
        memcpy(&value.as.float32, &bits, 4);
    } else if (chunk->type == RECMAP_TYPE_BYTES) {
        uint32_t start = i ? load32(chunk->words + (i - 1) * 4) : 0;
        uint32_t end = (uint32_t)word;
        if (end > chunk->bytes_size || start > end) start = end = 0;
        value.as.bytes.data = chunk->bytes + start;
        value.as.bytes.size = end - start;
    }
    return value;
}

/* One loop for each width, which compilers vectorise. */
void column_copy_int64(int64_t *values, const struct column_chunk *chunk, size_t first,
                       size_t count) {
    assert(chunk->type == RECMAP_TYPE_INT64 && first + count <= chunk->count);
    const uint8_t *words = chunk->words + first * chunk->width;
    uint64_t base = (uint64_t)chunk->base;
    switch (chunk->width) {
    case 1:
        for (size_t i = 0; i < count; i++) values[i] = (int64_t)(base + words[i]);
        break;
    case 2:
        for (size_t i = 0; i < count; i++) values[i] = (int64_t)(base + load16(words + 2 * i));
        break;
    case 4:
        for (size_t i = 0; i < count; i++) values[i] = (int64_t)(base + load32(words + 4 * i));
        break;
    case 8:
        for (size_t i = 0; i < count; i++) values[i] = (int64_t)(base + load64(words + 8 * i));
        break;
    default:
        for (size_t i = 0; i < count; i++) values[i] = (int64_t)base;
        break;
    }
}

void column_copy_float(float *values, const struct column_chunk *chunk, size_t first,
                       size_t count) {
    assert(chunk->type == RECMAP_TYPE_FLOAT && first + count <= chunk->count);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = load32(chunk->words + 4 * (first + i));
        memcpy(&values[i], &bits, sizeof bits);
    }
}

static bool parse_int64(recmap_value *value, const char *text) {
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (errno || end == text || *end) return false;
    value->type = RECMAP_TYPE_INT64;
    value->as.int64 = parsed;
    return true;
}

/* Uses the C locale, in which the decimal separator is a point. */
static bool parse_float(recmap_value *value, const char *text) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return false;
    char *end;
    float parsed = strtof_l(text, &end, c_locale);
    freelocale(c_locale);
    if (end == text || *end) return false;
    value->type = RECMAP_TYPE_FLOAT;
    value->as.float32 = parsed;
    return true;
}

bool column_parse_default(recmap_value *value, recmap_type type, const char *text) {
    recmap_value parsed = {.type = RECMAP_TYPE_NONE};
    bool fits = false;
    if (type == RECMAP_TYPE_INT64 || type == RECMAP_TYPE_NONE) fits = parse_int64(&parsed, text);
    if (!fits && (type == RECMAP_TYPE_FLOAT || type == RECMAP_TYPE_NONE))
        fits = parse_float(&parsed, text);
    if (!fits && (type == RECMAP_TYPE_BYTES || type == RECMAP_TYPE_NONE)) {
        parsed.type = RECMAP_TYPE_BYTES;
        parsed.as.bytes.data = (const uint8_t *)text;
        parsed.as.bytes.size = strlen(text);
        fits = parsed.as.bytes.size <= COLUMN_BYTES_MAX;
    }
    if (fits) *value = parsed;
    return fits;
}
