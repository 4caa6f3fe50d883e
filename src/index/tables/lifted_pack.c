/* Packs chunks of lifted columns. */
#include <assert.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "index/tables/lifted.h"
#include "index/tables/text_set.h"

/* How the values of a chunk are packed: a prefix (u8 type, u8 width, u8 flags, u8 zero, u32 count,
 * i64 base), the bits of nulls, the words, and what follows them. */
struct packing {
    const struct column_values *values;
    recmap_type type;
    uint8_t flags;
    unsigned width;
    int64_t base; /* of integers; or the number of texts in the dictionary */
    size_t bits_size;
    struct text_set *texts; /* the dictionary, or NULL */
    size_t texts_size;      /* bytes of the texts and their ends */
    uint64_t *codes;        /* of each value */
};

static bool is_null(const struct column_values *values, size_t i) {
    return values->nulls && values->nulls[i];
}

static size_t count_nulls(const struct column_values *values) {
    size_t count = 0;
    for (size_t i = 0; values->nulls && i < values->count; i++) count += values->nulls[i];
    return count;
}

static void find_range(struct packing *packing) {
    const struct column_values *values = packing->values;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 0; i < values->count; i++) {
        int64_t v = (int64_t)values->words[i];
        if (is_null(values, i)) continue;
        if (v < low) low = v;
        if (v > high) high = v;
    }
    if (low > high) return;
    unsigned bits = bit_length((uint64_t)high - (uint64_t)low);
    packing->base = low;
    packing->width = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static uint64_t bytes_total(const struct column_values *values) {
    return values->count ? values->words[values->count - 1] : 0;
}

static recmap_value text_at(const struct column_values *values, size_t i) {
    uint64_t start = i ? values->words[i - 1] : 0;
    recmap_value text = {.type = RECMAP_TYPE_BYTES};
    text.as.bytes.data = values->bytes + start;
    text.as.bytes.size = (size_t)(values->words[i] - start);
    return text;
}

static void drop_dictionary(struct packing *packing) {
    text_set_destroy(packing->texts);
    free(packing->codes);
    packing->texts = NULL;
    packing->codes = NULL;
}

static unsigned code_width(size_t text_count) {
    return text_count <= 1 ? 0 : text_count <= 256 ? 1 : 2;
}

/* Collects the distinct texts, in the order in which they occur first. Ends early when the texts
 * alone take as many bytes as the plain values. False if memory is out. */
static bool collect_texts(struct packing *packing, size_t plain_size) {
    const struct column_values *values = packing->values;
    size_t text_count = 0;
    packing->texts = text_set_create();
    packing->codes = calloc(values->count + 1, sizeof *packing->codes);
    if (!packing->texts || !packing->codes) return false;
    for (size_t i = 0; i < values->count && packing->texts_size < plain_size; i++) {
        if (is_null(values, i)) continue;
        recmap_value text = text_at(values, i);
        if (text_set_add(&packing->codes[i], packing->texts, &text, NULL) != RECMAP_OK)
            return false;
        if (packing->codes[i] < text_count) continue;
        text_count++;
        packing->texts_size += 4 + text.as.bytes.size;
    }
    packing->base = (int64_t)text_count;
    return true;
}

/* Texts are packed as codes of a dictionary if that is smaller. */
static bool choose_texts(struct packing *packing) {
    const struct column_values *values = packing->values;
    size_t plain_size = 4 * values->count + (size_t)bytes_total(values);
    if (!collect_texts(packing, plain_size)) return false;
    packing->width = code_width((size_t)packing->base);
    if (packing->width * values->count + packing->texts_size < plain_size) {
        packing->flags |= COLUMN_HAS_DICTIONARY;
        return true;
    }
    drop_dictionary(packing);
    packing->width = 4;
    packing->base = 0;
    packing->texts_size = 0;
    return true;
}

/* A chunk in which all values are null has type NONE, whatever the type of the column. */
static bool plan(struct packing *packing, const struct column_values *values) {
    size_t null_count = count_nulls(values);
    *packing = (struct packing){.values = values, .type = values->type};
    if (null_count) packing->flags = COLUMN_HAS_NULLS;
    if (null_count == values->count && null_count) packing->type = RECMAP_TYPE_NONE;
    else if (null_count) packing->bits_size = (values->count + 63) / 64 * 8;
    if (packing->type == RECMAP_TYPE_INT64) find_range(packing);
    if (packing->type == RECMAP_TYPE_FLOAT) packing->width = 4;
    if (packing->type == RECMAP_TYPE_FLOAT64) packing->width = 8;
    return packing->type != RECMAP_TYPE_BYTES || choose_texts(packing);
}

static size_t packed_size(const struct packing *packing) {
    size_t size = COLUMN_PREFIX_SIZE + packing->bits_size + packing->values->count * packing->width;
    if (packing->texts) return size + packing->texts_size;
    return packing->type == RECMAP_TYPE_BYTES ? size + (size_t)bytes_total(packing->values) : size;
}

static void store_bits(uint8_t *bits, const struct packing *packing) {
    memset(bits, 0, packing->bits_size);
    for (size_t i = 0; packing->bits_size && i < packing->values->count; i++)
        bits[i / 8] |= (uint8_t)(!is_null(packing->values, i) << i % 8);
}

/* The word of a null is 0, except that it is the end of an empty value in plain texts. */
static uint64_t word_at(const struct packing *packing, size_t i) {
    if (packing->codes) return packing->codes[i];
    if (packing->type != RECMAP_TYPE_BYTES && is_null(packing->values, i)) return 0;
    return packing->values->words[i] - (uint64_t)packing->base;
}

static uint8_t *store_words(uint8_t *word, const struct packing *packing) {
    for (size_t i = 0; packing->width && i < packing->values->count; i++, word += packing->width) {
        uint8_t eight[8];
        store64(eight, word_at(packing, i));
        memcpy(word, eight, packing->width);
    }
    return word;
}

/* The dictionary: the ends of its texts, then the texts. */
static void store_dictionary(uint8_t *ends, const struct packing *packing) {
    uint8_t *texts = ends + 4 * packing->base;
    uint32_t end = 0;
    for (size_t i = 0; i < (size_t)packing->base; i++) {
        recmap_value text = text_set_at(packing->texts, i);
        if (text.as.bytes.size) memcpy(texts + end, text.as.bytes.data, text.as.bytes.size);
        end += (uint32_t)text.as.bytes.size;
        store32(ends + 4 * i, end);
    }
}

static void store_chunk(uint8_t *bytes, const struct packing *packing) {
    const struct column_values *values = packing->values;
    memset(bytes, 0, COLUMN_PREFIX_SIZE);
    bytes[0] = (uint8_t)packing->type;
    bytes[1] = (uint8_t)packing->width;
    bytes[2] = packing->flags;
    store32(bytes + 4, (uint32_t)values->count);
    store64(bytes + 8, (uint64_t)packing->base);
    store_bits(bytes + COLUMN_PREFIX_SIZE, packing);
    uint8_t *end = store_words(bytes + COLUMN_PREFIX_SIZE + packing->bits_size, packing);
    if (packing->texts) store_dictionary(end, packing);
    else if (packing->type == RECMAP_TYPE_BYTES && bytes_total(values))
        memcpy(end, values->bytes, (size_t)bytes_total(values));
}

uint8_t *column_pack(size_t *size, const struct column_values *values) {
    struct packing packing;
    uint8_t *bytes = NULL;
    assert(values->count <= COLUMN_CHUNK_RECORDS);
    if (plan(&packing, values)) {
        *size = packed_size(&packing);
        bytes = malloc(*size);
    }
    if (bytes) store_chunk(bytes, &packing);
    drop_dictionary(&packing);
    return bytes;
}
