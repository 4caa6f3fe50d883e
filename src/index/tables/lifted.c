#include "index/tables/lifted.h"

#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "index/tables/manifest.h"

uint32_t column_format_version(const uint8_t *bytes, size_t size) {
    if (size < COLUMN_PREFIX_SIZE) return 1;
    if (bytes[0] == RECMAP_TYPE_FLOAT64) return INDEX_FORMAT_FLOAT64;
    return bytes[2] ? INDEX_FORMAT_NULLS : 1;
}

uint64_t column_word(const recmap_value *number) {
    uint64_t word = 0;
    if (number->type == RECMAP_TYPE_INT64) word = (uint64_t)number->as.int64;
    if (number->type == RECMAP_TYPE_FLOAT64) memcpy(&word, &number->as.float64, sizeof word);
    if (number->type == RECMAP_TYPE_FLOAT) {
        uint32_t bits;
        memcpy(&bits, &number->as.float32, sizeof bits);
        word = bits;
    }
    return word;
}

uint64_t column_append(uint8_t *bytes, size_t *bytes_size, const recmap_value *value) {
    if (value->type != RECMAP_TYPE_BYTES && value->type != RECMAP_TYPE_NONE)
        return column_word(value);
    size_t size = value->type == RECMAP_TYPE_BYTES ? value->as.bytes.size : 0;
    if (size) memcpy(bytes + *bytes_size, value->as.bytes.data, size);
    return *bytes_size += size;
}

recmap_value column_number(recmap_type type, uint64_t word) {
    recmap_value number = {.type = type};
    uint32_t bits = (uint32_t)word;
    if (type == RECMAP_TYPE_INT64) number.as.int64 = (int64_t)word;
    if (type == RECMAP_TYPE_FLOAT) memcpy(&number.as.float32, &bits, sizeof bits);
    if (type == RECMAP_TYPE_FLOAT64) memcpy(&number.as.float64, &word, sizeof word);
    return number;
}

/* The part of a packed chunk that was not taken yet. */
struct column_rest {
    const uint8_t *bytes;
    uint64_t size;
};

/* Takes the next bytes; NULL if there are not that many. */
static const uint8_t *take(struct column_rest *rest, uint64_t size) {
    const uint8_t *taken = rest->bytes;
    if (size > rest->size) return NULL;
    rest->bytes += size;
    rest->size -= size;
    return taken;
}

/* A chunk with the flag has at least one null and at least one value. The bits after the last value
 * are 0. */
static bool open_nulls(struct column_chunk *chunk, struct column_rest *rest) {
    size_t word_count = (chunk->count + 63) / 64, valid_count = 0;
    chunk->valid = take(rest, word_count * 8);
    if (!chunk->valid) return false;
    for (size_t i = 0; i < word_count; i++)
        valid_count += (size_t)__builtin_popcountll(load64(chunk->valid + 8 * i));
    if (chunk->count % 64 && load64(chunk->valid + 8 * (word_count - 1)) >> chunk->count % 64)
        return false;
    chunk->null_count = chunk->count - valid_count;
    return valid_count && chunk->null_count;
}

static bool ends_are_valid(const uint8_t *ends, size_t count, uint64_t size) {
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t next = load32(ends + 4 * i);
        if (next < end) return false;
        end = next;
    }
    return end == size;
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

static bool open_texts(struct column_chunk *chunk, size_t count, struct column_rest *rest) {
    chunk->ends = take(rest, 4 * (uint64_t)count);
    if (!chunk->ends || !ends_are_valid(chunk->ends, count, rest->size)) return false;
    chunk->bytes_size = (size_t)rest->size;
    chunk->bytes = take(rest, rest->size);
    return true;
}

/* The base is the number of texts, and each word the code of one. */
static bool open_dictionary(struct column_chunk *chunk, struct column_rest *rest) {
    if (chunk->width > 2 || chunk->base < 1 || chunk->base > (int64_t)chunk->count) return false;
    chunk->text_count = (size_t)chunk->base;
    chunk->words = take(rest, chunk->count * (uint64_t)chunk->width);
    if (!chunk->words) return false;
    for (size_t i = 0; i < chunk->count; i++)
        if (load_integer(chunk->words + i * chunk->width, chunk->width) >= chunk->text_count)
            return false;
    return open_texts(chunk, chunk->text_count, rest);
}

/* Takes the values from the rest of a chunk: numbers of `width` bytes, ends of texts, codes of a
 * dictionary, or nothing if all values are null. False if type, width and size do not fit. */
static bool open_words(struct column_chunk *chunk, unsigned flags, struct column_rest *rest) {
    unsigned width = chunk->width;
    switch (chunk->type) {
    case RECMAP_TYPE_NONE:
        chunk->null_count = flags & COLUMN_HAS_NULLS ? chunk->count : 0;
        return width == 0;
    case RECMAP_TYPE_BYTES:
        if (flags & COLUMN_HAS_DICTIONARY) return open_dictionary(chunk, rest);
        chunk->words = rest->bytes;
        return width == 4 && open_texts(chunk, chunk->count, rest);
    case RECMAP_TYPE_FLOAT:
        if (width != 4) return false;
        break;
    case RECMAP_TYPE_FLOAT64:
        if (width != 8) return false;
        break;
    case RECMAP_TYPE_INT64:
        if (width > 8 || (width & (width - 1))) return false;
        break;
    }
    chunk->words = take(rest, chunk->count * (uint64_t)width);
    return chunk->words != NULL;
}

/* This is the only place that checks the description of a chunk: type, width, sizes, flags, the
 * bits of nulls, that ends ascend, and that codes belong to texts. After that any value can be read
 * without looking at others. */
bool column_open(struct column_chunk *chunk, const uint8_t *bytes, size_t size, size_t count) {
    if (size < COLUMN_PREFIX_SIZE || load32(bytes + 4) != count) return false;
    unsigned type = bytes[0], flags = bytes[2];
    struct column_rest rest = {bytes + COLUMN_PREFIX_SIZE, size - COLUMN_PREFIX_SIZE};
    if (type > RECMAP_TYPE_FLOAT64 ||
        flags & ~(unsigned)(COLUMN_HAS_NULLS | COLUMN_HAS_DICTIONARY) ||
        (flags & COLUMN_HAS_DICTIONARY && type != RECMAP_TYPE_BYTES) || bytes[3])
        return false;
    struct column_chunk opened = {
        .type = (recmap_type)type,
        .count = count,
        .width = bytes[1],
        .base = (int64_t)load64(bytes + 8),
    };
    if (flags & COLUMN_HAS_NULLS && type != RECMAP_TYPE_NONE && !open_nulls(&opened, &rest))
        return false;
    if (!open_words(&opened, flags, &rest) || rest.size) return false;
    *chunk = opened;
    return true;
}

static bool is_null(const struct column_chunk *chunk, size_t i) {
    return chunk->valid && !(chunk->valid[i / 8] >> i % 8 & 1);
}

/* The bytes are in the file, which may have been written to since the chunk was opened. */
static recmap_value text_at(const struct column_chunk *chunk, size_t i) {
    recmap_value value = {.type = RECMAP_TYPE_BYTES};
    size_t place = i;
    if (chunk->text_count) {
        place = (size_t)load_integer(chunk->words + i * chunk->width, chunk->width);
        if (place >= chunk->text_count) place = 0;
    }
    uint32_t start = place ? load32(chunk->ends + (place - 1) * 4) : 0;
    uint32_t end = load32(chunk->ends + place * 4);
    if (end > chunk->bytes_size || start > end) start = end = 0;
    value.as.bytes.data = chunk->bytes + start;
    value.as.bytes.size = end - start;
    return value;
}

/* An initialiser guarantees only the first member of the union, which is smaller than `bytes`. */
recmap_value column_null(void) {
    recmap_value value = {.type = RECMAP_TYPE_NONE};
    value.as.bytes.data = NULL;
    value.as.bytes.size = 0;
    return value;
}

recmap_value column_at(const struct column_chunk *chunk, size_t i) {
    assert(i < chunk->count);
    if (chunk->type == RECMAP_TYPE_NONE || is_null(chunk, i)) return column_null();
    if (chunk->type == RECMAP_TYPE_BYTES) return text_at(chunk, i);
    uint64_t word = load_integer(chunk->words + i * chunk->width, chunk->width);
    if (chunk->type == RECMAP_TYPE_INT64) word += (uint64_t)chunk->base;
    return column_number(chunk->type, word);
}

void column_copy_nulls(uint8_t *nulls, const struct column_chunk *chunk, size_t first,
                       size_t count) {
    assert(first + count <= chunk->count);
    if (!chunk->valid) {
        memset(nulls, chunk->null_count != 0, count);
        return;
    }
    for (size_t i = 0; i < count; i++) nulls[i] = is_null(chunk, first + i);
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
    for (size_t i = 0; chunk->valid && i < count; i++)
        if (is_null(chunk, first + i)) values[i] = 0;
}

void column_copy_float(float *values, const struct column_chunk *chunk, size_t first,
                       size_t count) {
    assert(chunk->type == RECMAP_TYPE_FLOAT && first + count <= chunk->count);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = load32(chunk->words + 4 * (first + i));
        memcpy(&values[i], &bits, sizeof bits);
    }
    for (size_t i = 0; chunk->valid && i < count; i++)
        if (is_null(chunk, first + i)) values[i] = 0;
}

void column_copy_float64(double *values, const struct column_chunk *chunk, size_t first,
                         size_t count) {
    assert(chunk->type == RECMAP_TYPE_FLOAT64 && first + count <= chunk->count);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = load64(chunk->words + 8 * (first + i));
        memcpy(&values[i], &bits, sizeof bits);
    }
    for (size_t i = 0; chunk->valid && i < count; i++)
        if (is_null(chunk, first + i)) values[i] = 0;
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
static bool parse_float(recmap_value *value, recmap_type type, const char *text) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return false;
    char *end;
    *value = (recmap_value){.type = type};
    if (type == RECMAP_TYPE_FLOAT64) value->as.float64 = strtod_l(text, &end, c_locale);
    else value->as.float32 = strtof_l(text, &end, c_locale);
    freelocale(c_locale);
    return end != text && !*end;
}

bool column_parse_default(recmap_value *value, recmap_type type, const char *text) {
    recmap_value parsed = {.type = RECMAP_TYPE_NONE};
    bool fits = false;
    if (type == RECMAP_TYPE_INT64 || type == RECMAP_TYPE_NONE) fits = parse_int64(&parsed, text);
    if (!fits && (type == RECMAP_TYPE_FLOAT || type == RECMAP_TYPE_NONE))
        fits = parse_float(&parsed, RECMAP_TYPE_FLOAT, text);
    if (type == RECMAP_TYPE_FLOAT64) fits = parse_float(&parsed, type, text);
    if (!fits && (type == RECMAP_TYPE_BYTES || type == RECMAP_TYPE_NONE)) {
        parsed.type = RECMAP_TYPE_BYTES;
        parsed.as.bytes.data = (const uint8_t *)text;
        parsed.as.bytes.size = strlen(text);
        fits = parsed.as.bytes.size <= COLUMN_BYTES_MAX;
    }
    if (fits) *value = parsed;
    return fits;
}
