/* From list values to elements: every value that fits, values at the bounds, and the place of the
 * first one that does not fit. */
#include "parse/plan/convert.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/example/random_example.h"

static const struct {
    recmap_element element;
    int64_t low, high;
    size_t size;
} integers[] = {
    {RECMAP_ELEMENT_INT64, INT64_MIN, INT64_MAX, 8},
    {RECMAP_ELEMENT_INT32, INT32_MIN, INT32_MAX, 4},
    {RECMAP_ELEMENT_INT16, INT16_MIN, INT16_MAX, 2},
    {RECMAP_ELEMENT_INT8, INT8_MIN, INT8_MAX, 1},
    {RECMAP_ELEMENT_UINT64, 0, INT64_MAX, 8},
    {RECMAP_ELEMENT_UINT32, 0, UINT32_MAX, 4},
    {RECMAP_ELEMENT_UINT16, 0, UINT16_MAX, 2},
    {RECMAP_ELEMENT_UINT8, 0, UINT8_MAX, 1},
    {RECMAP_ELEMENT_BOOL, 0, 1, 1},
};

enum { INTEGER_COUNT = sizeof integers / sizeof *integers, LIMIT = 300 };

/* Element `index`, read as what it is. */
static int64_t element_at(const void *elements, recmap_element element, size_t index) {
    switch (element) {
    case RECMAP_ELEMENT_INT32: return ((const int32_t *)elements)[index];
    case RECMAP_ELEMENT_INT16: return ((const int16_t *)elements)[index];
    case RECMAP_ELEMENT_INT8: return ((const int8_t *)elements)[index];
    case RECMAP_ELEMENT_UINT32: return ((const uint32_t *)elements)[index];
    case RECMAP_ELEMENT_UINT16: return ((const uint16_t *)elements)[index];
    case RECMAP_ELEMENT_UINT8:
    case RECMAP_ELEMENT_BOOL: return ((const uint8_t *)elements)[index];
    default: return ((const int64_t *)elements)[index];
    }
}

/* A value within the range of `kind`, its edges often. */
static int64_t within(int kind, struct random_state *random) {
    int64_t low = integers[kind].low, high = integers[kind].high;
    switch (draw_below(random, 4)) {
    case 0: return low;
    case 1: return high;
    default: {
        uint64_t span = (uint64_t)high - (uint64_t)low, word = random_next(random);
        return (int64_t)((uint64_t)low + (span == UINT64_MAX ? word : word % (span + 1)));
    }
    }
}

/* Each element type and each count around the vector width, converted to new memory and in place.
 * Both must give the values that were put in. */
static void test_integers_that_fit(void **state) {
    (void)state;
    struct random_state random = {1};
    for (int kind = 0; kind < INTEGER_COUNT; kind++)
        for (size_t count = 0; count < LIMIT; count++) {
            recmap_element element = integers[kind].element;
            size_t size = count * integers[kind].size;
            int64_t *values = malloc(8 * count + 1), *in_place = malloc(8 * count + 1);
            void *memory = malloc(size + 1);
            for (size_t i = 0; i < count; i++) values[i] = within(kind, &random);
            memcpy(in_place, values, 8 * count);
            assert_int_equal(convert_int64(memory, element, values, count), count);
            assert_int_equal(convert_int64(in_place, element, in_place, count), count);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(element_at(memory, element, i), values[i]);
            assert_memory_equal(memory, in_place, size);
            free(values);
            free(in_place);
            free(memory);
        }
}

static void test_integers_that_do_not(void **state) {
    (void)state;
    struct random_state random = {2};
    int64_t values[LIMIT], made[LIMIT];
    for (int kind = 0; kind < INTEGER_COUNT; kind++) {
        int64_t low = integers[kind].low, high = integers[kind].high;
        for (size_t at = 0; at < LIMIT; at++) {
            for (size_t i = 0; i < LIMIT; i++) values[i] = within(kind, &random);
            bool is_low = draw_below(&random, 2) != 0;
            if (is_low ? low == INT64_MIN : high == INT64_MAX) continue;
            values[at] = is_low ? low - 1 : high + 1;
            if (draw_below(&random, 2)) values[at] = is_low ? INT64_MIN : INT64_MAX;
            if (values[at] >= low && values[at] <= high) continue;
            assert_int_equal(convert_int64(made, integers[kind].element, values, LIMIT), at);
        }
    }
}

/* What half-precision bits mean. */
static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double value = exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits & 1023, -24);
    if (exponent == 31) value = bits & 1023 ? NAN : INFINITY;
    return bits & 0x8000 ? -value : value;
}

static double bfloat_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns true if `bits` is the nearest to `value`, and even where two are: both neighbours are
 * looked at. */
static bool is_nearest(float value, uint16_t bits, double (*value_of)(uint16_t)) {
    double made = value_of(bits);
    if (isnan(value)) return isnan(made);
    if (isinf(value)) return made == value;
    if ((signbit(value) != 0) != (bits >> 15)) return false;
    double distance = fabs(made - value);
    double above = fabs(value_of((uint16_t)(bits + 1)) - value);
    if (above < distance || (above == distance && bits & 1)) return false;
    if (!(bits & 0x7fff)) return true;
    double below = fabs(value_of((uint16_t)(bits - 1)) - value);
    return below > distance || (below == distance && !(bits & 1));
}

/* All exponents, and the bits at which rounding is decided. */
static uint32_t float_bits(uint64_t round, struct random_state *random) {
    uint32_t bits = (uint32_t)(round % 512) << 23;
    uint32_t word = (uint32_t)random_next(random);
    switch (round / 512 % 8) {
    case 0: return bits;
    case 1: return bits | 0x7fffff;
    case 2: return bits | (word & 0x7fe000) | 0x1000;
    case 3: return bits | (word & 0x7fe000) | 0xfff;
    case 4: return bits | (word & 0x7f0000) | 0x8000;
    case 5: return bits | (word & 0x7f0000) | 0x7fff;
    default: return bits | (word & 0x7fffff);
    }
}

static void check_short_float(recmap_element element, uint32_t bits, double (*value_of)(uint16_t),
                              uint16_t infinite) {
    float value = float_of(bits);
    uint16_t made = 0x1234;
    size_t count = convert_float(&made, element, &value, 1);
    if (count == 1) {
        if (!is_nearest(value, made, value_of)) fail_msg("%08x became %04x", bits, made);
        assert_true(isinf(value) || (made & 0x7fff) != infinite);
        return;
    }
    /* Only what is at least half a step beyond the largest is refused. */
    double largest = value_of((uint16_t)(infinite - 1)),
           before = value_of((uint16_t)(infinite - 2));
    assert_false(isnan(value) || isinf(value));
    assert_true(fabs(value) >= largest + (largest - before) / 2);
}

static void test_floats_convert_to_short_floats(void **state) {
    (void)state;
    struct random_state random = {3};
    for (uint64_t round = 0; round < 400000; round++) {
        uint32_t bits = float_bits(round, &random);
        check_short_float(RECMAP_ELEMENT_FLOAT16, bits, half_value, 0x7c00);
        check_short_float(RECMAP_ELEMENT_BFLOAT16, bits, bfloat_value, 0x7f80);
    }
}

/* Floats that all types represent exactly, in runs of every length, and then one that overflows at
 * each place: the result names that place. Infinity is not an overflow. */
static void test_runs_of_floats(void **state) {
    (void)state;
    float values[LIMIT], same[LIMIT];
    uint16_t halves[LIMIT];
    double doubles[LIMIT];
    for (size_t i = 0; i < LIMIT; i++) values[i] = (float)i / 8 - 3;
    for (size_t count = 0; count <= LIMIT; count++) {
        assert_int_equal(convert_float(same, RECMAP_ELEMENT_FLOAT32, values, count), count);
        assert_memory_equal(same, values, 4 * count);
        assert_int_equal(convert_float(doubles, RECMAP_ELEMENT_FLOAT64, values, count), count);
        assert_int_equal(convert_float(halves, RECMAP_ELEMENT_FLOAT16, values, count), count);
        assert_int_equal(convert_float(same, RECMAP_ELEMENT_FLOAT16, same, count), count);
        assert_memory_equal(same, halves, 2 * count);
        for (size_t i = 0; i < count; i++) {
            assert_true(doubles[i] == values[i]);
            assert_true(half_value(halves[i]) == values[i]);
        }
    }
    for (size_t at = 0; at < LIMIT; at++) {
        float kept = values[at];
        values[at] = -65520;
        assert_int_equal(convert_float(halves, RECMAP_ELEMENT_FLOAT16, values, LIMIT), at);
        assert_int_equal(convert_float(halves, RECMAP_ELEMENT_BFLOAT16, values, LIMIT), LIMIT);
        values[at] = FLT_MAX;
        assert_int_equal(convert_float(halves, RECMAP_ELEMENT_BFLOAT16, values, LIMIT), at);
        values[at] = INFINITY;
        assert_int_equal(convert_float(halves, RECMAP_ELEMENT_FLOAT16, values, LIMIT), LIMIT);
        values[at] = kept;
    }
}

/* Raw elements at an odd address, in both byte orders. The expected numbers are put together byte
 * by byte. */
static void test_raw_elements_convert_in_both_byte_orders(void **state) {
    (void)state;
    uint8_t data[1 + 8 * 16];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 37 + 200);
    const uint8_t *odd = data + 1;
    for (int kind = 0; kind < INTEGER_COUNT - 1; kind++) {
        int64_t made[16];
        assert_int_equal(convert_raw(made, integers[kind].element, odd, false, 16), 16);
        for (size_t i = 0; i < 16; i++) {
            uint64_t wanted = 0, mask = UINT64_MAX >> (64 - 8 * integers[kind].size);
            for (size_t j = integers[kind].size; j > 0; j--)
                wanted = wanted << 8 | odd[i * integers[kind].size + j - 1];
            uint64_t got = (uint64_t)element_at(made, integers[kind].element, i);
            assert_true((got & mask) == wanted);
        }
    }
    uint16_t halves[2];
    assert_int_equal(
        convert_raw(halves, RECMAP_ELEMENT_BFLOAT16, (const uint8_t *)"\x01\x02\3\4", false, 2), 2);
    assert_int_equal(halves[0], 0x0201);
    assert_int_equal(
        convert_raw(halves, RECMAP_ELEMENT_BFLOAT16, (const uint8_t *)"\x01\x02\3\4", true, 2), 2);
    assert_int_equal(halves[1], 0x0304);
    float one;
    assert_int_equal(
        convert_raw(&one, RECMAP_ELEMENT_FLOAT32, (const uint8_t *)"\0\0\x80\x3f", false, 1), 1);
    assert_true(one == 1);
    double two;
    const uint8_t *bytes = (const uint8_t *)"\0\0\0\0\0\0\0\x40";
    assert_int_equal(convert_raw(&two, RECMAP_ELEMENT_FLOAT64, bytes, false, 1), 1);
    assert_true(two == 2);
}

static void test_raw_bools_are_0_or_1(void **state) {
    (void)state;
    uint8_t data[LIMIT], made[LIMIT];
    for (size_t i = 0; i < LIMIT; i++) data[i] = i % 3 == 0;
    assert_int_equal(convert_raw(made, RECMAP_ELEMENT_BOOL, data, false, LIMIT), LIMIT);
    assert_memory_equal(made, data, LIMIT);
    for (size_t at = 0; at < LIMIT; at++) {
        uint8_t kept = data[at];
        data[at] = at % 2 ? 2 : 0xff;
        assert_int_equal(convert_raw(made, RECMAP_ELEMENT_BOOL, data, false, LIMIT), at);
        data[at] = kept;
    }
}

static void test_elements_have_the_kind_of_their_list(void **state) {
    (void)state;
    for (int kind = 0; kind < INTEGER_COUNT; kind++)
        assert_int_equal(convert_list_of(integers[kind].element), RECMAP_TYPE_INT64);
    assert_int_equal(convert_list_of(RECMAP_ELEMENT_FLOAT32), RECMAP_TYPE_FLOAT);
    assert_int_equal(convert_list_of(RECMAP_ELEMENT_FLOAT16), RECMAP_TYPE_FLOAT);
    assert_int_equal(convert_list_of(RECMAP_ELEMENT_BFLOAT16), RECMAP_TYPE_FLOAT);
    assert_int_equal(convert_list_of(RECMAP_ELEMENT_FLOAT64), RECMAP_TYPE_FLOAT);
    assert_int_equal(convert_list_of(RECMAP_ELEMENT_BYTES), RECMAP_TYPE_BYTES);
    assert_int_equal(convert_list_of(RECMAP_ELEMENT_NONE), RECMAP_TYPE_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_that_fit),
        cmocka_unit_test(test_integers_that_do_not),
        cmocka_unit_test(test_floats_convert_to_short_floats),
        cmocka_unit_test(test_runs_of_floats),
        cmocka_unit_test(test_raw_elements_convert_in_both_byte_orders),
        cmocka_unit_test(test_raw_bools_are_0_or_1),
        cmocka_unit_test(test_elements_have_the_kind_of_their_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
