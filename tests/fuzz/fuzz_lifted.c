/* Any bytes as a packed chunk of a lifted column: refused, or values that are the same one by one
 * and many at once, point into the chunk, and stay the same if they are packed again. */
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "fuzz/fuzz.h"
#include "index/tables/lifted.h"

enum { COUNT_MAX = 1000, PREFIX_COUNT = 4 };

static void check(bool holds) {
    if (!holds) abort();
}

static bool is_within(const uint8_t *data, size_t size, const recmap_value *value) {
    const uint8_t *bytes = value->as.bytes.data;
    size_t count = value->as.bytes.size;
    return !count || (bytes >= data && count <= size && bytes + count <= data + size);
}

static bool are_equal(recmap_value a, recmap_value b) {
    if (a.type != b.type) return false;
    switch (a.type) {
    case RECMAP_TYPE_INT64: return a.as.int64 == b.as.int64;
    case RECMAP_TYPE_FLOAT: return !memcmp(&a.as.float32, &b.as.float32, sizeof a.as.float32);
    case RECMAP_TYPE_FLOAT64: return !memcmp(&a.as.float64, &b.as.float64, sizeof a.as.float64);
    case RECMAP_TYPE_BYTES:
        return a.as.bytes.size == b.as.bytes.size &&
               (!a.as.bytes.size || !memcmp(a.as.bytes.data, b.as.bytes.data, a.as.bytes.size));
    default: return true;
    }
}

/* Compares what copies many values with column_at. */
static void check_copies(const struct column_chunk *chunk) {
    int64_t integers[COUNT_MAX];
    float floats[COUNT_MAX];
    double doubles[COUNT_MAX];
    uint8_t nulls[COUNT_MAX];
    size_t null_count = 0;
    column_copy_nulls(nulls, chunk, 0, chunk->count);
    if (chunk->type == RECMAP_TYPE_INT64) column_copy_int64(integers, chunk, 0, chunk->count);
    if (chunk->type == RECMAP_TYPE_FLOAT) column_copy_float(floats, chunk, 0, chunk->count);
    if (chunk->type == RECMAP_TYPE_FLOAT64) column_copy_float64(doubles, chunk, 0, chunk->count);
    for (size_t i = 0; i < chunk->count; i++) {
        recmap_value value = column_at(chunk, i);
        if (chunk->type != RECMAP_TYPE_NONE) check(nulls[i] == (value.type == RECMAP_TYPE_NONE));
        null_count += nulls[i];
        if (value.type == RECMAP_TYPE_INT64) check(integers[i] == value.as.int64);
        if (value.type == RECMAP_TYPE_FLOAT)
            check(!memcmp(&floats[i], &value.as.float32, sizeof floats[i]));
        if (value.type == RECMAP_TYPE_FLOAT64)
            check(!memcmp(&doubles[i], &value.as.float64, sizeof doubles[i]));
    }
    check(null_count == chunk->null_count);
}

/* Appends the value to the bytes of a column, or sets its word. Returns the new size of the bytes.
 */
static size_t unpack(uint64_t *word, uint8_t *bytes, size_t size, recmap_value value,
                     recmap_type type) {
    *word = column_word(&value);
    if (type != RECMAP_TYPE_BYTES) return 0;
    if (value.type == RECMAP_TYPE_BYTES && value.as.bytes.size)
        memcpy(bytes + size, value.as.bytes.data, value.as.bytes.size);
    if (value.type == RECMAP_TYPE_BYTES) size += value.as.bytes.size;
    return *word = size;
}

static void check_packed(const struct column_chunk *chunk, const struct column_values *values) {
    size_t size;
    uint8_t *packed = column_pack(&size, values);
    struct column_chunk again;
    check(packed && column_open(&again, packed, size, chunk->count));
    check(again.null_count == chunk->null_count);
    for (size_t i = 0; i < chunk->count; i++)
        check(are_equal(column_at(chunk, i), column_at(&again, i)));
    free(packed);
}

/* Packs the values again. A dictionary may expand to texts that a column does not hold: those are
 * left out. */
static void pack_again(const struct column_chunk *chunk) {
    uint64_t words[COUNT_MAX];
    uint8_t nulls[COUNT_MAX];
    size_t size = 0, total = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        recmap_value value = column_at(chunk, i);
        if (value.type == RECMAP_TYPE_BYTES && value.as.bytes.size > COLUMN_BYTES_MAX) return;
        if (value.type == RECMAP_TYPE_BYTES) total += value.as.bytes.size;
    }
    uint8_t *bytes = malloc(total + 1);
    check(bytes != NULL);
    for (size_t i = 0; i < chunk->count; i++)
        size = unpack(&words[i], bytes, size, column_at(chunk, i), chunk->type);
    column_copy_nulls(nulls, chunk, 0, chunk->count);
    struct column_values values = {chunk->type, chunk->count, words, bytes,
                                   chunk->null_count ? nulls : NULL};
    check_packed(chunk, &values);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct column_chunk chunk;
    if (size < COLUMN_PREFIX_SIZE) return 0;
    size_t count = load32(data + PREFIX_COUNT);
    if (!count || count > COUNT_MAX || !column_open(&chunk, data, size, count)) return 0;
    for (size_t i = 0; i < count; i++) {
        recmap_value value = column_at(&chunk, i);
        if (value.type == RECMAP_TYPE_BYTES) check(is_within(data, size, &value));
    }
    check_copies(&chunk);
    pack_again(&chunk);
    return 0;
}
