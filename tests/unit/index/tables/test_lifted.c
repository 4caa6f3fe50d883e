/* Packed columns: every type, width and extreme comes back; forged bytes are refused or read
 * inside; defaults are read as a whole or not at all. */
#include "index/tables/lifted.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/bytes.h"
#include "support/buffer.h"
#include "support/folder.h"

/* Packs values, and opens the chunk; the caller frees what comes back. */
static uint8_t *pack(const struct column_values *values, struct column_chunk *chunk) {
    size_t size;
    uint8_t *packed = column_pack(&size, values);
    assert_non_null(packed);
    packed = must_realloc(packed, size);
    assert_true(column_open(chunk, packed, size, values->count));
    assert_int_equal(chunk->type, values->type);
    struct column_chunk other;
    assert_false(column_open(&other, packed, size, values->count + 1));
    if (values->count) assert_false(column_open(&other, packed, size, values->count - 1));
    for (size_t less = 1; less <= size && less < 30; less++)
        assert_true(!column_open(&other, packed, size - less, values->count));
    return packed;
}

static void check_integers(const int64_t *values, size_t count, unsigned width) {
    struct column_values given = {RECMAP_TYPE_INT64, count, (const uint64_t *)values, NULL, NULL};
    struct column_chunk chunk;
    uint8_t *packed = pack(&given, &chunk);
    assert_int_equal(chunk.width, width);
    for (size_t i = 0; i < count; i++) {
        recmap_value value = column_at(&chunk, i);
        assert_int_equal(value.type, RECMAP_TYPE_INT64);
        assert_true(value.as.int64 == values[i]);
    }
    for (size_t first = 0; first < count; first++) {
        int64_t copies[8] = {0};
        size_t copied = count - first < 8 ? count - first : 8;
        column_copy_int64(copies, &chunk, first, copied);
        assert_memory_equal(copies, values + first, copied * sizeof *values);
    }
    free(packed);
}

static void test_integers_read_back(void **state) {
    (void)state;
    check_integers(NULL, 0, 0);
    check_integers((int64_t[]){INT64_MIN}, 1, 0);
    check_integers((int64_t[]){INT64_MAX, INT64_MAX, INT64_MAX}, 3, 0);
    check_integers((int64_t[]){5, 260}, 2, 1);
    check_integers((int64_t[]){5, 261}, 2, 2);
    check_integers((int64_t[]){-1, 65534}, 2, 2);
    check_integers((int64_t[]){-1, 65535}, 2, 4);
    check_integers((int64_t[]){INT64_MIN, INT64_MIN + UINT32_MAX}, 2, 4);
    check_integers((int64_t[]){INT64_MIN, INT64_MIN + UINT32_MAX + 1}, 2, 8);
    check_integers((int64_t[]){INT64_MIN, 0, INT64_MAX, -1, 1}, 5, 8);
}

/* Random ranges of every width around a random base. The expected number of bytes is computed from
 * the largest distance between two values. */
static void test_random_integers_take_the_expected_bytes(void **state) {
    (void)state;
    struct rng random = {1};
    for (int round = 0; round < 2000; round++) {
        int64_t values[300];
        size_t count = 1 + (size_t)rng_below(&random, 300);
        unsigned bits = (unsigned)rng_below(&random, 65);
        uint64_t base = rng_next(&random), max = 0, min = UINT64_MAX;
        for (size_t i = 0; i < count; i++) {
            uint64_t above = bits ? rng_next(&random) >> (64 - bits) : 0;
            values[i] = (int64_t)(base + above);
        }
        for (size_t i = 0; i < count; i++) {
            uint64_t ordered = (uint64_t)values[i] ^ (uint64_t)1 << 63;
            if (ordered > max) max = ordered;
            if (ordered < min) min = ordered;
        }
        uint64_t range = max - min;
        check_integers(values, count,
                       !range                ? 0
                       : range <= UINT8_MAX  ? 1
                       : range <= UINT16_MAX ? 2
                       : range <= UINT32_MAX ? 4
                                             : 8);
    }
}

static void test_floats_read_back(void **state) {
    (void)state;
    const float values[] = {0, -0.0f, 1.5f, -3e38f, 1e-45f, INFINITY, -INFINITY, NAN};
    uint64_t words[8];
    for (size_t i = 0; i < 8; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        words[i] = bits;
    }
    struct column_values given = {RECMAP_TYPE_FLOAT, 8, words, NULL, NULL};
    struct column_chunk chunk;
    uint8_t *packed = pack(&given, &chunk);
    for (size_t i = 0; i < 8; i++) {
        recmap_value value = column_at(&chunk, i);
        assert_memory_equal(&value.as.float32, &values[i], 4);
    }
    float copies[8];
    column_copy_float(copies, &chunk, 3, 5);
    assert_memory_equal(copies, values + 3, 5 * sizeof *values);
    free(packed);
}

static void test_float64s_read_back(void **state) {
    (void)state;
    const double values[] = {0,   -0.0, 1732752000.123456, -1e300, 5e-324, INFINITY, -INFINITY,
                             NAN, 0.1};
    enum { COUNT = sizeof values / sizeof *values };
    uint64_t words[COUNT];
    memcpy(words, values, sizeof values);
    struct column_values given = {RECMAP_TYPE_FLOAT64, COUNT, words, NULL, NULL};
    struct column_chunk chunk;
    uint8_t *packed = pack(&given, &chunk);
    for (size_t i = 0; i < COUNT; i++) {
        recmap_value value = column_at(&chunk, i);
        assert_int_equal(value.type, RECMAP_TYPE_FLOAT64);
        assert_memory_equal(&value.as.float64, &values[i], 8);
    }
    double copies[COUNT];
    column_copy_float64(copies, &chunk, 3, COUNT - 3);
    assert_memory_equal(copies, values + 3, sizeof values - 3 * sizeof *values);
    free(packed);
}

/* The format's version depends on the type, so that readers from before float64 reject it. */
static void test_float64_raises_the_format_version(void **state) {
    (void)state;
    uint64_t words[] = {0, 0};
    uint8_t nulls[] = {0, 1};
    const struct {
        recmap_type type;
        const uint8_t *nulls;
        uint32_t version;
    } cases[] = {{RECMAP_TYPE_FLOAT, NULL, 1},
                 {RECMAP_TYPE_FLOAT, nulls, 2},
                 {RECMAP_TYPE_FLOAT64, NULL, 4},
                 {RECMAP_TYPE_FLOAT64, nulls, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct column_values given = {cases[i].type, 2, words, NULL, cases[i].nulls};
        size_t size;
        uint8_t *packed = column_pack(&size, &given);
        assert_int_equal(column_format_version(packed, size), cases[i].version);
        free(packed);
    }
}

/* A chunk of float64 has 8 bytes for each value, and no dictionary. */
static void test_forged_float64s_are_refused(void **state) {
    (void)state;
    uint8_t bytes[COLUMN_PREFIX_SIZE + 24] = {RECMAP_TYPE_FLOAT64, 8, 0, 0, 2};
    struct column_chunk chunk;
    size_t size = COLUMN_PREFIX_SIZE + 16;
    assert_true(column_open(&chunk, bytes, size, 2));
    assert_false(column_open(&chunk, bytes, size - 1, 2));
    assert_false(column_open(&chunk, bytes, size + 8, 2));
    for (unsigned width = 0; width < 256; width++) {
        bytes[1] = (uint8_t)width;
        assert_true(column_open(&chunk, bytes, size, 2) == (width == 8));
        if (width <= 12 && width != 8)
            assert_false(column_open(&chunk, bytes, COLUMN_PREFIX_SIZE + 2 * width, 2));
    }
    bytes[1] = 8;
    bytes[2] = COLUMN_HAS_DICTIONARY;
    assert_false(column_open(&chunk, bytes, size, 2));
    bytes[2] = 0;
    bytes[0] = RECMAP_TYPE_FLOAT64 + 1;
    assert_false(column_open(&chunk, bytes, size, 2));
}

/* Random texts, many of them empty, read back after packing. */
static void test_texts_read_back(void **state) {
    (void)state;
    struct rng random = {2};
    for (int round = 0; round < 500; round++) {
        size_t count = (size_t)rng_below(&random, 100);
        uint64_t ends[100];
        struct buffer bytes = BUFFER_INIT;
        for (size_t i = 0; i < count; i++) {
            buffer_add_random(&bytes, (size_t)rng_skewed(&random, 8), &random);
            ends[i] = bytes.size;
        }
        struct column_values given = {RECMAP_TYPE_BYTES, count, ends, bytes.data, NULL};
        struct column_chunk chunk;
        uint8_t *packed = pack(&given, &chunk);
        for (size_t i = 0; i < count; i++) {
            recmap_value value = column_at(&chunk, i);
            size_t start = i ? (size_t)ends[i - 1] : 0;
            assert_int_equal(value.as.bytes.size, ends[i] - start);
            if (value.as.bytes.size)
                assert_memory_equal(value.as.bytes.data, bytes.data + start, value.as.bytes.size);
        }
        free(packed);
        buffer_deinit(&bytes);
    }
}

static void test_columns_without_values_read_back(void **state) {
    (void)state;
    struct column_values given = {RECMAP_TYPE_NONE, 65536, NULL, NULL, NULL};
    struct column_chunk chunk;
    uint8_t *packed = pack(&given, &chunk);
    assert_int_equal(column_at(&chunk, 65535).type, RECMAP_TYPE_NONE);
    free(packed);
}

/* A random column, as its values and as a chunk of them. */
struct random_column {
    struct column_values values;
    uint64_t words[700];
    uint8_t nulls[700];
    struct buffer bytes;
};

static void fill_column(struct random_column *column, struct rng *random) {
    static const char *const texts[] = {"", "de", "fr", "de-AT", "a longer text"};
    size_t count = (size_t)rng_below(random, 700);
    recmap_type type = (recmap_type)(RECMAP_TYPE_INT64 + rng_below(random, 4));
    unsigned null_share = (unsigned)rng_below(random, 4),
             text_count = (unsigned)rng_below(random, 5);
    for (size_t i = 0; i < count; i++) {
        column->nulls[i] = null_share == 3 || (null_share && rng_one_in(random, 4));
        column->words[i] = rng_next(random) >> (type == RECMAP_TYPE_FLOAT ? 32 : 50);
        if (type != RECMAP_TYPE_BYTES) continue;
        const char *text = texts[rng_below(random, text_count + 1)];
        if (!column->nulls[i]) buffer_add(&column->bytes, text, strlen(text));
        column->words[i] = column->bytes.size;
    }
    column->values =
        (struct column_values){type, count, column->words, column->bytes.data, column->nulls};
}

static void check_value(const struct random_column *column, const struct column_chunk *chunk,
                        size_t i) {
    recmap_value value = column_at(chunk, i);
    if (column->nulls[i]) {
        assert_int_equal(value.type, RECMAP_TYPE_NONE);
        assert_null(value.as.bytes.data);
        assert_int_equal(value.as.bytes.size, 0);
        return;
    }
    assert_int_equal(value.type, column->values.type);
    uint64_t start = i ? column->words[i - 1] : 0;
    switch (value.type) {
    case RECMAP_TYPE_INT64: assert_true((uint64_t)value.as.int64 == column->words[i]); break;
    case RECMAP_TYPE_FLOAT: assert_memory_equal(&value.as.float32, &column->words[i], 4); break;
    case RECMAP_TYPE_FLOAT64: assert_memory_equal(&value.as.float64, &column->words[i], 8); break;
    case RECMAP_TYPE_BYTES:
        assert_int_equal(value.as.bytes.size, column->words[i] - start);
        if (value.as.bytes.size)
            assert_memory_equal(value.as.bytes.data, column->bytes.data + start,
                                value.as.bytes.size);
        break;
    case RECMAP_TYPE_NONE: fail(); break;
    }
}

/* Copies of a part of the values: 0 for a null. */
static void check_copies(const struct random_column *column, const struct column_chunk *chunk,
                         size_t first) {
    size_t count = chunk->count - first;
    uint8_t nulls[700];
    int64_t integers[700];
    float floats[700];
    double doubles[700];
    column_copy_nulls(nulls, chunk, first, count);
    assert_memory_equal(nulls, column->nulls + first, count);
    if (chunk->type == RECMAP_TYPE_INT64) column_copy_int64(integers, chunk, first, count);
    if (chunk->type == RECMAP_TYPE_FLOAT) column_copy_float(floats, chunk, first, count);
    if (chunk->type == RECMAP_TYPE_FLOAT64) column_copy_float64(doubles, chunk, first, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t due = nulls[i] ? 0 : column->words[first + i];
        if (chunk->type == RECMAP_TYPE_INT64) assert_true((uint64_t)integers[i] == due);
        if (chunk->type == RECMAP_TYPE_FLOAT) assert_memory_equal(&floats[i], &due, 4);
        if (chunk->type == RECMAP_TYPE_FLOAT64) assert_memory_equal(&doubles[i], &due, 8);
    }
}

/* Columns of every type, with and without nulls, and of few texts or many. */
static void test_nulls_read_back(void **state) {
    (void)state;
    struct rng random = {5};
    uint64_t dictionaries = 0, empty = 0;
    for (int round = 0; round < 600; round++) {
        struct random_column column = {.bytes = BUFFER_INIT};
        struct column_chunk chunk;
        fill_column(&column, &random);
        size_t size, count = column.values.count, null_count = 0;
        uint8_t *packed = column_pack(&size, &column.values);
        assert_true(packed && column_open(&chunk, packed, size, count));
        for (size_t i = 0; i < count; i++) check_value(&column, &chunk, i);
        for (size_t i = 0; i < count; i++) null_count += column.nulls[i];
        assert_int_equal(chunk.null_count, null_count);
        if (count) check_copies(&column, &chunk, (size_t)rng_below(&random, count));
        dictionaries += chunk.text_count != 0;
        empty += chunk.type == RECMAP_TYPE_NONE;
        free(packed);
        buffer_deinit(&column.bytes);
    }
    assert_true(dictionaries && empty);
}

/* A column of 3 values, some of them null, with one thing changed. */
struct forged_chunk {
    const char *what;
    size_t place;
    uint8_t value;
};

static void refuse_each(const struct column_values *values, const struct forged_chunk *forged,
                        size_t count) {
    size_t size;
    struct column_chunk chunk;
    for (size_t i = 0; i < count; i++) {
        uint8_t *packed = column_pack(&size, values);
        assert_true(column_open(&chunk, packed, size, values->count));
        assert_true(forged[i].place < size && packed[forged[i].place] != forged[i].value);
        packed[forged[i].place] = forged[i].value;
        if (column_open(&chunk, packed, size, values->count))
            fail_msg("a chunk was opened: %s", forged[i].what);
        free(packed);
    }
}

static void test_forged_nulls_are_refused(void **state) {
    (void)state;
    const uint64_t words[] = {1, 2, 3};
    const uint8_t nulls[] = {0, 1, 0};
    struct column_values values = {RECMAP_TYPE_INT64, 3, words, NULL, nulls};
    static const struct forged_chunk forged[] = {
        {"an unknown flag", 2, 5},
        {"a dictionary of integers", 2, 3},
        {"a nonzero byte of the prefix", 3, 1},
        {"bits of nulls without the flag", 2, 0},
        {"no null", 16, 7},
        {"only nulls", 16, 0},
        {"a bit after the last value", 16, 0x0d},
        {"a bit in the last byte", 23, 0x80},
    };
    refuse_each(&values, forged, sizeof forged / sizeof *forged);
}

static void test_forged_dictionaries_are_refused(void **state) {
    (void)state;
    uint64_t ends[12];
    uint8_t bytes[24];
    for (size_t i = 0; i < 12; i++) {
        memcpy(bytes + 2 * i, i % 2 ? "fr" : "de", 2);
        ends[i] = 2 * i + 2;
    }
    struct column_values values = {RECMAP_TYPE_BYTES, 12, ends, bytes, NULL};
    static const struct forged_chunk forged[] = {
        {"a dictionary without the flag", 2, 0},
        {"no texts", 8, 0},
        {"more texts than there are ends", 8, 3},
        {"more texts than values", 8, 13},
        {"a number of texts beyond 32 bits", 12, 1},
        {"a negative number of texts", 15, 0x80},
        {"codes of no bytes", 1, 0},
        {"codes of 2 bytes", 1, 2},
        {"codes of 4 bytes", 1, 4},
        {"a code of no text", 16, 2},
        {"ends that descend", 16 + 12, 5},
        {"an end past the texts", 16 + 16, 5},
    };
    refuse_each(&values, forged, sizeof forged / sizeof *forged);
}

/* A sum over all that a chunk gives, for a sanitizer to watch. */
static uint64_t read_all(const struct column_chunk *chunk) {
    uint64_t sum = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        recmap_value value = column_at(chunk, i);
        if (value.type == RECMAP_TYPE_INT64) sum += (uint64_t)value.as.int64;
        if (value.type != RECMAP_TYPE_BYTES) continue;
        for (size_t b = 0; b < value.as.bytes.size; b++) sum += value.as.bytes.data[b];
    }
    return sum;
}

/* Random bytes with small numbers, and a prefix that is plausible, so that a good part of the
 * chunks can be opened. Reading all values of those must stay within the bytes, which the
 * sanitizers watch. */
static void test_forged_chunks_are_refused_or_read_safely(void **state) {
    (void)state;
    struct rng random = {3};
    uint64_t sum = 0, opened = 0, with_nulls = 0, with_texts = 0;
    int rounds = is_long() ? 1000000 : 50000;
    for (int round = 0; round < rounds; round++) {
        size_t count = (size_t)rng_below(&random, 20);
        size_t size = (size_t)rng_below(&random, COLUMN_PREFIX_SIZE + 200);
        uint8_t *bytes = must_realloc(NULL, size);
        for (size_t i = 0; i < size; i++)
            bytes[i] = rng_one_in(&random, 3) ? (uint8_t)rng_below(&random, 12) : 0;
        if (size >= COLUMN_PREFIX_SIZE) {
            bytes[0] = (uint8_t)rng_below(&random, 6);
            bytes[1] = (uint8_t)rng_below(&random, 11);
            bytes[2] = rng_one_in(&random, 2) ? (uint8_t)rng_below(&random, 5) : 0;
            bytes[3] = 0;
            if (bytes[2] & COLUMN_HAS_DICTIONARY) {
                bytes[0] = RECMAP_TYPE_BYTES;
                bytes[1] = (uint8_t)rng_below(&random, 3);
                memset(bytes + 8, 0, 8);
                bytes[8] = (uint8_t)rng_below(&random, 4);
            }
            if (bytes[2] & COLUMN_HAS_NULLS && size >= COLUMN_PREFIX_SIZE + 8)
                store64(bytes + COLUMN_PREFIX_SIZE,
                        rng_next(&random) & (((uint64_t)1 << count) - 1));
            store32(bytes + 4, (uint32_t)count);
        }
        struct column_chunk chunk;
        if (column_open(&chunk, bytes, size, count)) {
            sum += read_all(&chunk);
            opened++;
            with_nulls += chunk.valid != NULL;
            with_texts += chunk.text_count != 0;
        }
        free(bytes);
    }
    assert_true(opened > 0 && sum > 0 && with_nulls > 0 && with_texts > 0);
}

static void assert_default(recmap_type type, const char *text, recmap_type due) {
    recmap_value value = {.type = (recmap_type)99};
    bool fits = column_parse_default(&value, type, text);
    assert_int_equal(fits, due != RECMAP_TYPE_NONE);
    assert_int_equal(value.type, fits ? due : (recmap_type)99);
}

/* In place of the C library's function: numbers have a decimal comma, as in a German locale, which
 * need not be installed here. What follows a point is not read. */
float strtof(const char *restrict text, char **restrict end) {
    *end = (char *)text + strspn(text, "-0123456789");
    return 0;
}

double strtod(const char *restrict text, char **restrict end) {
    return (double)strtof(text, end);
}

/* Defaults have a decimal point in every locale. */
static void test_default_of_a_locale(void **state) {
    (void)state;
    recmap_value value;
    assert_true(column_parse_default(&value, RECMAP_TYPE_FLOAT, "-1.5"));
    assert_int_equal(value.type, RECMAP_TYPE_FLOAT);
    assert_true(value.as.float32 == -1.5f);
    assert_false(column_parse_default(&value, RECMAP_TYPE_FLOAT, "-1,5"));
}

/* Which texts are defaults of which type. Without a type, the text decides: an integer if it fits,
 * else a float, else bytes. Bytes longer than a stored value can be are refused. */
static void test_defaults_are_read_by_type(void **state) {
    (void)state;
    assert_default(RECMAP_TYPE_INT64, "12", RECMAP_TYPE_INT64);
    assert_default(RECMAP_TYPE_INT64, "-9223372036854775808", RECMAP_TYPE_INT64);
    assert_default(RECMAP_TYPE_INT64, "9223372036854775808", RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_INT64, "12x", RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_INT64, "", RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_INT64, "1.0", RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_FLOAT, "1.5e3", RECMAP_TYPE_FLOAT);
    assert_default(RECMAP_TYPE_FLOAT, "12", RECMAP_TYPE_FLOAT);
    assert_default(RECMAP_TYPE_FLOAT, "nan", RECMAP_TYPE_FLOAT);
    assert_default(RECMAP_TYPE_FLOAT, "1.5 ", RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_FLOAT, "", RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_FLOAT64, "0.1", RECMAP_TYPE_FLOAT64);
    assert_default(RECMAP_TYPE_FLOAT64, "1e300", RECMAP_TYPE_FLOAT64);
    assert_default(RECMAP_TYPE_FLOAT64, "12", RECMAP_TYPE_FLOAT64);
    assert_default(RECMAP_TYPE_FLOAT64, "0.1x", RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_FLOAT64, "", RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_BYTES, "", RECMAP_TYPE_BYTES);
    assert_default(RECMAP_TYPE_BYTES, "12", RECMAP_TYPE_BYTES);
    assert_default(RECMAP_TYPE_NONE, "12", RECMAP_TYPE_INT64);
    assert_default(RECMAP_TYPE_NONE, "12.", RECMAP_TYPE_FLOAT);
    assert_default(RECMAP_TYPE_NONE, "9223372036854775808", RECMAP_TYPE_FLOAT);
    assert_default(RECMAP_TYPE_NONE, "cat", RECMAP_TYPE_BYTES);
    char text[COLUMN_BYTES_MAX + 2];
    memset(text, 'x', sizeof text);
    text[COLUMN_BYTES_MAX + 1] = 0;
    assert_default(RECMAP_TYPE_BYTES, text, RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_NONE, text, RECMAP_TYPE_NONE);
    assert_default(RECMAP_TYPE_BYTES, text + 1, RECMAP_TYPE_BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_read_back),
        cmocka_unit_test(test_random_integers_take_the_expected_bytes),
        cmocka_unit_test(test_floats_read_back),
        cmocka_unit_test(test_float64s_read_back),
        cmocka_unit_test(test_float64_raises_the_format_version),
        cmocka_unit_test(test_forged_float64s_are_refused),
        cmocka_unit_test(test_texts_read_back),
        cmocka_unit_test(test_columns_without_values_read_back),
        cmocka_unit_test(test_forged_chunks_are_refused_or_read_safely),
        cmocka_unit_test(test_defaults_are_read_by_type),
        cmocka_unit_test(test_default_of_a_locale),
        cmocka_unit_test(test_nulls_read_back),
        cmocka_unit_test(test_forged_nulls_are_refused),
        cmocka_unit_test(test_forged_dictionaries_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
