/* recmap_example_visit against protobuf-c on random Examples and SequenceExamples, whole, cut and
 * damaged; and how a visit ends early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/example.h>

#include "unit/parse/example/random_sequence.h"
#include "unit/parse/example/visit_against.h"

static void check(const uint8_t *data, size_t size) {
    uint8_t *copy = copy_exact(data, size);
    const char *difference = find_visit_difference(copy, size);
    free(copy);
    if (!difference) return;
    fprintf(stderr, "%s:", difference);
    for (size_t i = 0; i < size; i++) fprintf(stderr, "%s%02x", i ? "" : " ", data[i]);
    fprintf(stderr, "\n");
    fail_msg("%s", difference);
}

static unsigned rounds(void) {
    return getenv("RECMAP_TEST_LONG") ? 500000 : 10000;
}

static void test_every_value_of_examples_is_visited(void **state) {
    (void)state;
    static const struct oddness none = {0, 0, 0, 0}, odd = {20, 5, 100, 5};
    struct random_state random = {1};
    for (unsigned i = 0; i < rounds(); i++) {
        struct message message;
        random_example(&message, &random, i % 2 ? &odd : &none);
        check(message.data, message.size);
        random_damage(&message, &random);
        check(message.data, message.size);
    }
}

static void test_every_value_of_sequences_is_visited(void **state) {
    (void)state;
    struct random_state random = {2};
    for (unsigned i = 0; i < rounds(); i++) {
        static struct message message;
        random_sequence(&message, &random);
        check(message.data, message.size);
        for (size_t cut = 0; i % 100 == 0 && cut < message.size; cut++) check(message.data, cut);
        random_damage(&message, &random);
        check(message.data, message.size);
    }
}

/* Stops at the call that `calls_left` counts down to. */
struct stopper {
    int calls_left;
    int call_count;
    recmap_error *error;
};

static recmap_status stop(const recmap_example_part *part, void *context) {
    struct stopper *stopper = context;
    (void)part;
    stopper->call_count++;
    if (--stopper->calls_left) return RECMAP_OK;
    snprintf(stopper->error->message, sizeof stopper->error->message, "stopped");
    return RECMAP_CANCELLED;
}

/* A context with features "a" and "b", and a list "c" of two steps: five parts. */
static void put_five_parts(struct message *record) {
    static struct message features, lists, list, entry;
    int64_t value = 7;
    record->size = features.size = lists.size = list.size = entry.size = 0;
    put_int64s(&features, "b", &value, 1);
    put_int64s(&features, "a", &value, 1);
    put_sub(record, 1, &features);
    put_bytes(&list, 1, "", 0);
    put_bytes(&list, 1, "", 0);
    put_bytes(&entry, 1, "c", 1);
    put_sub(&entry, 2, &list);
    put_sub(&lists, 1, &entry);
    put_sub(record, 2, &lists);
}

/* Whatever part the callback stops at, no other follows, and its status and error are returned. */
static void test_callback_stops(void **state) {
    (void)state;
    enum { PARTS = 5 };
    static struct message record;
    put_five_parts(&record);
    for (int at = 1; at <= PARTS + 1; at++) {
        recmap_error error = RECMAP_ERROR_INIT;
        struct stopper stopper = {.calls_left = at, .error = &error};
        bool stops = at <= PARTS;
        assert_int_equal(recmap_example_visit(stop, &stopper, record.data, record.size, &error),
                         stops ? RECMAP_CANCELLED : RECMAP_OK);
        assert_int_equal(stopper.call_count, stops ? at : PARTS);
        assert_string_equal(error.message, stops ? "stopped" : "");
    }
}

static void assert_refused(const struct message *record, uint64_t offset, const char *text) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct stopper stopper = {.error = &error};
    assert_int_equal(recmap_example_visit(stop, &stopper, record->data, record->size, &error),
                     RECMAP_CORRUPT);
    assert_int_equal(stopper.call_count, 0);
    assert_int_equal(error.offset, offset);
    if (!strstr(error.message, text)) fail_msg("%s", error.message);
}

/* Damage in the last list is found before the first feature is passed on. */
static void test_damage_is_found_first(void **state) {
    (void)state;
    static struct message record;
    put_five_parts(&record);
    record.data[record.size - 3] = 0x7f; /* the length of the first step */
    assert_refused(&record, record.size - 3, "the record is not a tf.SequenceExample: ");
    record.size = 1;
    assert_refused(&record, 1, "the record is not a tf.Example: ");
}

static void test_records_without_features_are_visited(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct stopper stopper = {.error = &error};
    assert_int_equal(recmap_example_visit(stop, &stopper, "", 0, &error), RECMAP_OK);
    assert_int_equal(stopper.call_count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_of_examples_is_visited),
        cmocka_unit_test(test_every_value_of_sequences_is_visited),
        cmocka_unit_test(test_callback_stops),
        cmocka_unit_test(test_damage_is_found_first),
        cmocka_unit_test(test_records_without_features_are_visited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
