/* Our reader against protobuf-c's on random Examples, whole and damaged. against.h has the list of
 * what protobuf-c does otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "parse/example/example.h"
#include "unit/parse/example/against.h"
#include "unit/parse/example/random_example.h"

static bool is_example(const uint8_t *data, size_t size) {
    struct example_reader reader = example_reader_begin(data, size);
    for (struct example_entry entry; example_reader_next(&entry, &reader);) {
    }
    return example_reader_end(&reader, NULL);
}

/* Fails the test when the readers differ; says whether the bytes are an Example. */
static bool check(const uint8_t *data, size_t size) {
    uint8_t *copy = copy_exact(data, size);
    const char *difference = find_difference(copy, size);
    bool accepted = is_example(copy, size);
    free(copy);
    if (difference) {
        fprintf(stderr, "%s:", difference);
        for (size_t i = 0; i < size; i++) fprintf(stderr, "%s%02x", i ? "" : " ", data[i]);
        fprintf(stderr, "\n");
        fail_msg("%s", difference);
    }
    return accepted;
}

struct tally {
    unsigned accepted;
    unsigned compared; /* accepted, and free of departures */
    unsigned refused;
};

static void count(struct tally *tally, const uint8_t *data, size_t size) {
    if (!check(data, size)) tally->refused++;
    else if (find_departures(data, size)) tally->accepted++;
    else tally->compared++;
}

static unsigned rounds(void) {
    return getenv("RECMAP_TEST_LONG") ? 2000000 : 40000;
}

static void test_plain_examples_agree_with_protobuf_c(void **state) {
    (void)state;
    static const struct oddness none = {0, 0, 0, 0};
    struct random_state random = {1};
    struct tally tally = {0};
    for (unsigned i = 0; i < rounds(); i++) {
        struct message message;
        random_example(&message, &random, &none);
        count(&tally, message.data, message.size);
    }
    assert_int_equal(tally.refused, 0);
    assert_int_equal(tally.accepted, 0);
}

static void test_odd_examples_agree_with_protobuf_c(void **state) {
    (void)state;
    static const struct oddness odd = {20, 5, 100, 5};
    struct random_state random = {2};
    struct tally tally = {0};
    for (unsigned i = 0; i < rounds(); i++) {
        struct message message;
        random_example(&message, &random, &odd);
        count(&tally, message.data, message.size);
    }
    /* A test that refuses all, or compares nothing, shows nothing. */
    assert_true(tally.refused > rounds() / 50);
    assert_true(tally.accepted > rounds() / 50);
    assert_true(tally.compared > rounds() / 20);
}

static void test_damaged_examples_agree_with_protobuf_c(void **state) {
    (void)state;
    static const struct oddness odd = {10, 2, 50, 0};
    struct random_state random = {3};
    struct tally tally = {0};
    for (unsigned i = 0; i < rounds(); i++) {
        struct message message;
        random_example(&message, &random, &odd);
        random_damage(&message, &random);
        if (draw_below(&random, 2)) random_damage(&message, &random);
        count(&tally, message.data, message.size);
    }
    assert_true(tally.refused > rounds() / 50);
    assert_true(tally.compared > rounds() / 20);
}

static void test_every_truncation_and_bit(void **state) {
    (void)state;
    static const struct oddness odd = {10, 2, 50, 0};
    struct random_state random = {4};
    for (unsigned i = 0; i < 60; i++) {
        struct message message;
        random_example(&message, &random, &odd);
        for (size_t size = 0; size <= message.size; size++) check(message.data, size);
        for (size_t bit = 0; bit < message.size * 8; bit++) {
            message.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            check(message.data, message.size);
            message.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_examples_agree_with_protobuf_c),
        cmocka_unit_test(test_odd_examples_agree_with_protobuf_c),
        cmocka_unit_test(test_damaged_examples_agree_with_protobuf_c),
        cmocka_unit_test(test_every_truncation_and_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
