/* Keys are equal exactly if the ids are: ids of all kinds, about as long as a key has room for,
 * which differ in one byte or in their types only. */
#include "dataset/lookup/id_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/lookup/find.h"

enum { SIZES = 40 };

static recmap_value bytes_value(const uint8_t *data, size_t size) {
    recmap_value value = {.type = RECMAP_TYPE_BYTES};
    value.as.bytes.data = data;
    value.as.bytes.size = size;
    return value;
}

static recmap_value number_value(int64_t number) {
    recmap_value value = {.type = RECMAP_TYPE_INT64};
    value.as.int64 = number;
    return value;
}

static void check_pair(const recmap_value *id, const recmap_value *other) {
    struct id_key key = id_key_of(id), other_key = id_key_of(other);
    assert_int_equal(id_key_equals(&key, &other_key), is_same_id(id, other));
    assert_int_equal(id_key_equals(&other_key, &key), is_same_id(id, other));
    assert_false(id_key_equals(&key, &ID_KEY_NONE));
    assert_false(id_key_equals(&ID_KEY_NONE, &key));
}

static void test_one_different_byte(void **state) {
    (void)state;
    uint8_t id[SIZES] = {0}, other[SIZES] = {0};
    for (size_t size = 0; size < SIZES; size++) {
        recmap_value value = bytes_value(id, size), copy = bytes_value(other, size);
        check_pair(&value, &copy);
        for (size_t i = 0; i < size; i++)
            for (int bit = 0; bit < 8; bit++) {
                other[i] = (uint8_t)(1 << bit);
                check_pair(&value, &copy);
                other[i] = 0;
            }
    }
}

/* Zeros at the end are a part of an id. */
static void test_zeros_at_the_end_belong_to_an_id(void **state) {
    (void)state;
    static const uint8_t zeros[SIZES],
        ones[SIZES] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t size = 0; size < SIZES; size++)
        for (size_t other_size = 0; other_size < SIZES; other_size++) {
            recmap_value zero = bytes_value(zeros, size), other = bytes_value(zeros, other_size);
            recmap_value one = bytes_value(ones, size), empty = bytes_value(NULL, 0);
            check_pair(&zero, &other);
            check_pair(&one, &other);
            check_pair(&one, &empty);
        }
}

static void test_numbers_have_keys_of_their_own(void **state) {
    (void)state;
    static const int64_t numbers[] = {0, 1, -1, 255, INT64_MIN, INT64_MAX};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            recmap_value number = number_value(numbers[i]), other = number_value(numbers[j]);
            check_pair(&number, &other);
            for (size_t size = 0; size <= sizeof numbers[j]; size++) {
                recmap_value bytes = bytes_value((const uint8_t *)&numbers[j], size);
                check_pair(&number, &bytes);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_different_byte),
        cmocka_unit_test(test_zeros_at_the_end_belong_to_an_id),
        cmocka_unit_test(test_numbers_have_keys_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
