/* Reading a record into sinks: wire cases, random Examples, runs of integers, many entries. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/decode/read_check.h"
#include "unit/parse/example/cases.h"
#include "unit/parse/example/data.h"

/* The names of all wire cases, each as a list of the same kind. */
static void begin_wire(struct read_check *check, recmap_element element) {
    static const char *const names[] = {"k", "j", "a", "b", "age", "key", "value", "", "zipcode"};
    recmap_feature features[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        features[i] = var_len(names[i], element);
        if (!*names[i]) {
            features[i].name = "the empty name";
            features[i].key = "";
        }
    }
    read_check_init(check, features, sizeof names / sizeof *names);
}

static const recmap_element list_elements[] = {RECMAP_ELEMENT_INT64, RECMAP_ELEMENT_FLOAT32,
                                               RECMAP_ELEMENT_BYTES};

/* Bytes that libprotobuf refuses are not an Example; others must be read as the simple reading
 * does, which is compared with libprotobuf's verdicts elsewhere. */
static void read_wire_case(struct read_check *check, const char *hex, bool is_refused) {
    struct message message;
    message.size = 0;
    put_hex(&message, hex);
    bool taken = read_check_next(check, message.data, message.size);
    if (taken && is_refused) fail_msg("%s is taken", hex);
}

static void test_wire_cases_are_read_as_listed(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        struct read_check f;
        begin_wire(&f, list_elements[e]);
        for (size_t i = 0; i < sizeof wire_cases / sizeof *wire_cases; i++)
            read_wire_case(&f, wire_cases[i].hex, strcmp(wire_cases[i].expected, "REJECT") == 0);
        read_check_deinit(&f);
    }
}

static void test_given_wire_cases(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        size_t size;
        struct read_check f;
        unsigned count = 0;
        char *table = (char *)data_read("verdicts/example_wire_cases.tsv", &size);
        if (!table) {
            print_message("skipped: no folder of test data\n");
            skip();
        }
        begin_wire(&f, list_elements[e]);
        char *rest = table, *line = strsep(&rest, "\n");
        while ((line = strsep(&rest, "\n")) && *line) {
            strsep(&line, "\t");
            const char *hex = strsep(&line, "\t");
            strsep(&line, "\t");
            /* Its only entry has a name that nobody asks for, or that is not UTF-8. */
            read_wire_case(&f, hex, strncmp(line, "ok ", 3) != 0);
            count++;
        }
        assert_true(count > 40);
        read_check_deinit(&f);
        free(table);
    }
}

/* Features of the names that random Examples have, of all kinds of slots. */
static size_t random_features(recmap_feature *features, struct random_state *random) {
    static const char *const names[] = {
        "a", "b", "age", "image/encoded", "\xc3\xa9", "\xf0\x9f\x98\x80 eight and more", "label"};
    static const uint64_t shapes[][1] = {{2}, {3}, {1}};
    static const recmap_value number = {.type = RECMAP_TYPE_INT64, .as.int64 = 7};
    static const recmap_value real = {.type = RECMAP_TYPE_FLOAT, .as.float32 = 1.5f};
    static const recmap_value text = {.type = RECMAP_TYPE_BYTES,
                                      .as.bytes = {(const uint8_t *)"none", 4}};
    static const recmap_element elements[] = {
        RECMAP_ELEMENT_INT64,   RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_BYTES,
        RECMAP_ELEMENT_INT64,   RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_BYTES,
        RECMAP_ELEMENT_INT32,   RECMAP_ELEMENT_UINT8,   RECMAP_ELEMENT_BOOL,
        RECMAP_ELEMENT_FLOAT16, RECMAP_ELEMENT_FLOAT64, RECMAP_ELEMENT_INT16};
    size_t count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++) {
        recmap_element element = elements[draw_below(random, 12)];
        recmap_feature *feature = &features[i];
        *feature = var_len(names[i], element);
        if (draw_below(random, 8) == 0 && element != RECMAP_ELEMENT_BYTES) feature->raw = 1;
        switch (draw_below(random, 4)) {
        case 0:
            feature->kind = RECMAP_FEATURE_FIXED_LEN;
            feature->default_count = 1;
            feature->defaults = element == RECMAP_ELEMENT_BYTES ? &text
                                : element == RECMAP_ELEMENT_FLOAT32 ||
                                        element == RECMAP_ELEMENT_FLOAT16 ||
                                        element == RECMAP_ELEMENT_FLOAT64
                                    ? &real
                                    : &number;
            if (element == RECMAP_ELEMENT_BOOL) feature->default_count = 0;
            if (draw_below(random, 2)) {
                feature->shape = shapes[draw_below(random, 3)];
                feature->dimension_count = 1;
            }
            break;
        case 1:
            feature->kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
            feature->unpadded = 1;
            feature->shape = shapes[draw_below(random, 3)];
            feature->dimension_count = 1;
            break;
        default: break;
        }
    }
    return count;
}

/* Examples in every shape that the wire allows, and damaged ones. */
static void test_random_examples_are_read_as_by_a_plain_reader(void **state) {
    (void)state;
    static const struct oddness odd[] = {
        {0, 0, 0, 0}, {30, 0, 0, 0}, {0, 30, 30, 0}, {20, 20, 20, 5}, {0, 0, 0, 20}};
    struct random_state random = {5};
    for (unsigned round = 0; round < round_count(200); round++) {
        recmap_feature features[8];
        struct read_check f;
        read_check_init(&f, features, random_features(features, &random));
        for (unsigned i = 0; i < 100; i++) {
            struct message message;
            random_example(&message, &random, &odd[draw_below(&random, 5)]);
            read_check_next(&f, message.data, message.size);
            if (draw_below(&random, 3)) continue;
            random_damage(&message, &random);
            read_check_next(&f, message.data, message.size);
        }
        read_check_deinit(&f);
    }
}

/* Runs of small integers, short and long ones, as every element. */
static void test_runs_of_small_integers_are_read(void **state) {
    (void)state;
    enum { LONG = 700 };
    static const recmap_element elements[] = {
        RECMAP_ELEMENT_INT64,  RECMAP_ELEMENT_INT32,  RECMAP_ELEMENT_INT16,
        RECMAP_ELEMENT_INT8,   RECMAP_ELEMENT_UINT64, RECMAP_ELEMENT_UINT32,
        RECMAP_ELEMENT_UINT16, RECMAP_ELEMENT_UINT8,  RECMAP_ELEMENT_BOOL};
    static const uint64_t three[] = {3};
    static const int64_t limits[] = {2, 3, 128, 129, 300, 70000};
    struct random_state random = {14};
    for (size_t e = 0; e < sizeof elements / sizeof *elements; e++) {
        recmap_feature features[] = {var_len("any", elements[e]), scalar("three", elements[e]),
                                     scalar("one", elements[e]), var_len("pairs", elements[e]),
                                     var_len("long", elements[e])};
        struct read_check f;
        features[1].shape = three;
        features[1].dimension_count = 1;
        features[3].kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
        features[3].unpadded = 1;
        features[3].shape = &(const uint64_t){2};
        features[3].dimension_count = 1;
        read_check_init(&f, features, 5);
        for (unsigned i = 0; i < round_count(500); i++) {
            struct message message, map;
            int64_t limit = limits[draw_below(&random, 6)], values[LONG];
            for (size_t k = 0; k < LONG; k++)
                values[k] = (int64_t)draw_below(&random, (uint64_t)limit);
            if (draw_below(&random, 10) == 0) values[0] = -values[0];
            message.size = map.size = 0;
            put_int64s(&map, "any", values, (size_t)draw_below(&random, 11));
            put_int64s(&map, "three", values, draw_below(&random, 20) ? 3 : 2);
            put_int64s(&map, "one", values, 1);
            put_int64s(&map, "long", values, (size_t)draw_below(&random, LONG + 1));
            put_int64s(&map, "pairs", values, 2 * (size_t)draw_below(&random, 5));
            put_sub(&message, 1, &map);
            read_check_next(&f, message.data, message.size);
        }
        read_check_deinit(&f);
    }
}

/* Nothing asked for: anything goes that is an Example but for values. */
static void test_without_features_any_example_is_accepted(void **state) {
    (void)state;
    struct random_state random = {11};
    struct read_check f;
    read_check_init(&f, NULL, 0);
    for (unsigned i = 0; i < 2000; i++) {
        struct message message;
        random_example(&message, &random, &(struct oddness){5, 5, 5, 5});
        read_check_next(&f, message.data, message.size);
    }
    assert_true(read_check_next(&f, NULL, 0));
    read_check_deinit(&f);
}

/* More entries than are kept in mind, wanted ones among them. */
static void test_the_last_of_many_entries_counts(void **state) {
    (void)state;
    static struct message message, features;
    struct read_check f;
    recmap_feature wanted[] = {scalar("n 77", RECMAP_ELEMENT_INT64),
                               var_len("n 2000", RECMAP_ELEMENT_INT64)};
    read_check_init(&f, wanted, 2);
    for (int64_t count = 900; count < 2200; count += 50) {
        message.size = features.size = 0;
        for (int64_t i = 0; i < count; i++) {
            char name[16];
            snprintf(name, sizeof name, "n %d", (int)i);
            put_int64s(&features, name, &i, 1);
        }
        put_sub(&message, 1, &features);
        assert_true(read_check_next(&f, message.data, message.size));
        /* And one wanted name again and again. */
        features.size = message.size = 0;
        for (int64_t i = 0; i < count; i++) put_int64s(&features, "n 77", &i, 1);
        put_sub(&message, 1, &features);
        assert_true(read_check_next(&f, message.data, message.size));
    }
    read_check_deinit(&f);
}

/* Every batch that a caller keeps has scratch memory, so it is as small as the records allow, and
 * grows within the record that needs more room, which is still read on the fast path. */
static void test_scratch_grows_with_the_entries(void **state) {
    (void)state;
    static struct message message, features;
    static const int64_t counts[] = {5, 200, UNASKED_MAX, 5};
    static const size_t rooms[] = {1 + UNASKED_FIRST, 288, 1 + UNASKED_MAX, 1 + UNASKED_MAX};
    struct read_check f;
    recmap_feature wanted = scalar("n 3", RECMAP_ELEMENT_INT64);
    read_check_init(&f, &wanted, 1);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        message.size = features.size = 0;
        for (int64_t k = 0; k < counts[i]; k++) {
            char name[16];
            snprintf(name, sizeof name, "n %d", (int)k);
            put_int64s(&features, name, &k, 1);
        }
        put_sub(&message, 1, &features);
        assert_true(read_check_next(&f, message.data, message.size));
        for (size_t w = 1; w < f.path_count; w++) {
            assert_int_equal(f.paths[w].taken_fast, i + 1);
            assert_int_equal(f.paths[w].scratch->entries_max, rooms[i]);
        }
    }
    read_check_deinit(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wire_cases_are_read_as_listed),
        cmocka_unit_test(test_given_wire_cases),
        cmocka_unit_test(test_random_examples_are_read_as_by_a_plain_reader),
        cmocka_unit_test(test_runs_of_small_integers_are_read),
        cmocka_unit_test(test_without_features_any_example_is_accepted),
        cmocka_unit_test(test_the_last_of_many_entries_counts),
        cmocka_unit_test(test_scratch_grows_with_the_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
