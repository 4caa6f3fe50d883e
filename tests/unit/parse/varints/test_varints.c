/* Runs of varints: every decoding path against a scalar reader, with nothing read outside the bytes
 * and nothing written past the slack. */
#include "parse/varints/varints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/bytes.h"
#include "unit/parse/example/random_example.h"

static const struct {
    const char *name;
    varints_function *decode;
} ways[] = {
    {"portable", varints_portable},
#ifdef VARINTS_X86
    {"AVX2", varints_avx2},
    {"AVX-512", varints_avx512},
#endif
#ifdef VARINTS_NEON
    {"NEON", varints_neon},
#endif
};

enum { WAY_COUNT = sizeof ways / sizeof *ways, GUARD = 64 };

/* One varint after the other, a byte at a time. */
static size_t reference(int64_t *values, size_t capacity, const uint8_t *data, size_t size) {
    size_t count = 0, used = 0;
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        if (used == 10 || count == capacity) return VARINTS_BAD;
        value |= (uint64_t)(data[i] & 0x7f) << (7 * used++);
        if (data[i] >= 0x80) continue;
        values[count++] = (int64_t)value;
        value = used = 0;
    }
    return used ? VARINTS_BAD : count;
}

/* Decodes bytes of a buffer of exactly their size with one way. */
static void check_way(size_t path, const int64_t *expected, size_t expected_count, size_t capacity,
                      const uint8_t *data, size_t size) {
    size_t room = capacity * sizeof(int64_t) + VARINTS_SLACK;
    uint8_t *bytes = copy_exact(data, size), *made = malloc(room + GUARD), guard[GUARD];
    if (!made) abort();
    memset(made, 0x55, room + GUARD);
    memset(guard, 0x55, GUARD);
    size_t count = ways[path].decode((int64_t *)(void *)made, capacity, bytes, size);
    if (count != expected_count)
        fail_msg("%s: %zu values instead of %zu, capacity %zu, size %zu", ways[path].name, count,
                 expected_count, capacity, size);
    if (count != VARINTS_BAD && count)
        assert_memory_equal(made, expected, count * sizeof *expected);
    /* The slack follows the last value, not the capacity. */
    size_t end = (count == VARINTS_BAD ? capacity : count) * sizeof(int64_t) + VARINTS_SLACK;
    assert_memory_equal(made + end, guard, GUARD);
    free(bytes);
    free(made);
}

static void check_capacity(const uint8_t *data, size_t size, size_t capacity) {
    int64_t *wanted = malloc((capacity + 1) * sizeof *wanted);
    if (!wanted) abort();
    size_t count = reference(wanted, capacity, data, size);
    for (size_t way = 0; way < WAY_COUNT; way++)
        if (varints_force(ways[way].decode)) check_way(way, wanted, count, capacity, data, size);
    varints_force(NULL);
    free(wanted);
}

/* With room for more values than there are, for all of them, for one less, and for none. */
static void check(const uint8_t *data, size_t size) {
    size_t ends = 0;
    for (size_t i = 0; i < size; i++) ends += data[i] < 0x80;
    check_capacity(data, size, size + 8);
    check_capacity(data, size, ends);
    if (ends) check_capacity(data, size, ends - 1);
    check_capacity(data, size, 0);
}

enum mix { ONE_BYTE, TWO_BYTES, TOKENS, NEGATIVES, ANY_LENGTH, UP_TO_FOUR, MIX_COUNT };

static uint64_t mixed_value(enum mix m, struct random_state *random) {
    uint64_t word = random_next(random);
    switch (m) {
    case ONE_BYTE: return word & 0x7f;
    case TWO_BYTES: return 128 + word % (16384 - 128);
    case TOKENS: return word % 32000;
    case NEGATIVES: return word % 8 ? 0 - word % 1000 - 1 : word % 1000;
    case UP_TO_FOUR: return word >> (36 + draw_below(random, 28));
    default: return word >> draw_below(random, 64);
    }
}

/* `size` bytes of varints, some of them with bytes that add nothing; the last is whole. */
static void put_run(struct message *message, enum mix kind, size_t size,
                    struct random_state *random) {
    message->size = 0;
    while (message->size < size) {
        put_varint(message, mixed_value(kind, random));
        if (draw_below(random, 40)) continue;
        message->data[message->size - 1] |= 0x80;
        put_hex(message, draw_below(random, 2) ? "00" : "8000");
    }
    message->size = size;
    if (size) message->data[size - 1] &= 0x7f;
}

static unsigned rounds(void) {
    return getenv("RECMAP_TEST_LONG") ? 100 : 3;
}

static void test_runs_of_every_size(void **state) {
    (void)state;
    struct random_state random = {1};
    static struct message message;
    for (size_t size = 0; size <= 300; size++)
        for (int kind = 0; kind < MIX_COUNT; kind++)
            for (unsigned i = 0; i < rounds(); i++) {
                put_run(&message, (enum mix)kind, size, &random);
                check(message.data, message.size);
            }
}

static void test_damaged_runs_are_refused(void **state) {
    (void)state;
    struct random_state random = {2};
    static struct message message;
    for (unsigned i = 0; i < 3000 * rounds(); i++) {
        put_run(&message, (enum mix)draw_below(&random, MIX_COUNT), draw_below(&random, 301),
                &random);
        random_damage(&message, &random);
        if (draw_below(&random, 2)) random_damage(&message, &random);
        check(message.data, message.size);
    }
}

/* A run of any of these bytes, which decide where varints end and nothing else. */
static void test_every_pattern_of_ends(void **state) {
    (void)state;
    uint8_t data[14];
    for (uint32_t pattern = 0; pattern < 1u << sizeof data; pattern++) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)((pattern >> i & 1) << 7 | (i * 11 + 5));
        check_capacity(data, sizeof data, sizeof data);
    }
}

/* Long varints wherever they begin: 8 to 12 bytes, at each place of two blocks, whole and cut. */
static void test_long_varints_everywhere(void **state) {
    (void)state;
    uint8_t data[160];
    for (size_t length = 4; length <= 12; length++)
        for (size_t at = 0; at <= 130; at++)
            for (unsigned before = 0; before < 2; before++) {
                for (size_t i = 0; i < at; i++)
                    data[i] = (uint8_t)(before ? (i % 2 || i == at - 1 ? 1 : 0x81) : i % 128);
                memset(data + at, 0xff, length);
                data[at + length - 1] = 0x7f;
                data[at + length] = 3;
                check_capacity(data, at + length + 1, 160);
                check_capacity(data, at + length, 160);
                check_capacity(data, at + length - 1, 160);
                check_capacity(data, sizeof data, 160);
            }
}

static void test_truncated_runs_are_refused(void **state) {
    (void)state;
    struct random_state random = {3};
    static struct message message;
    for (int kind = 0; kind < MIX_COUNT; kind++) {
        put_run(&message, (enum mix)kind, 200, &random);
        for (size_t size = 0; size <= 200; size++) check(message.data, size);
    }
}

/* Bits beyond 64 of a tenth byte are dropped, an eleventh byte is none. */
static void test_bits_beyond_64_are_dropped(void **state) {
    (void)state;
    static const uint8_t ten[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7e};
    int64_t values[1 + VARINTS_SLACK / sizeof(int64_t)];
    for (size_t way = 0; way < WAY_COUNT; way++) {
        if (!varints_force(ways[way].decode)) continue;
        assert_int_equal(ways[way].decode(values, 1, ten, sizeof ten), 1);
        assert_int_equal(values[0], INT64_MAX);
    }
    varints_force(NULL);
}

static void test_the_fastest_supported_path_is_chosen(void **state) {
    (void)state;
    varints_function *best = varints_best();
#ifdef VARINTS_NEON
    assert_true(best == varints_neon);
#elif !defined(VARINTS_X86)
    assert_true(best == varints_portable);
#endif
    assert_true(varints_force(best));
    assert_true(varints_force(varints_portable));
    assert_true(varints_best() == varints_portable);
    assert_true(varints_force(NULL));
    assert_true(varints_best() == best);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_of_every_size),
        cmocka_unit_test(test_damaged_runs_are_refused),
        cmocka_unit_test(test_every_pattern_of_ends),
        cmocka_unit_test(test_long_varints_everywhere),
        cmocka_unit_test(test_truncated_runs_are_refused),
        cmocka_unit_test(test_bits_beyond_64_are_dropped),
        cmocka_unit_test(test_the_fastest_supported_path_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
