/* What is known of values, against the statistics of a schema, which look at each of them. */
#include "dataset/doctor/value_exam.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "parse/example/example.h"
#include "parse/example/feature_stats.h"
#include "parse/example/sequence_features.h"
#include "unit/parse/example/random_example.h"

enum { VALUES_MAX = 1200 };

static bool is_constant(const struct feature_stats *stats) {
    if (stats->nan_count || stats->bytes_count) return false;
    if (!stats->int64_count == !stats->float_count) return false;
    return stats->int64_count ? stats->min_int64 == stats->max_int64
                              : stats->min_float == stats->max_float;
}

static unsigned traits_of(const struct feature_stats *stats) {
    return (stats->nan_count ? NUMBER_NAN : 0) | (stats->infinite_count ? NUMBER_INFINITE : 0) |
           (stats->inexact_count ? NUMBER_INEXACT : 0);
}

/* Adds a feature to both, and to the exam of its half of the records. */
static void add(struct feature_stats *stats, struct value_exam *exam, struct value_exam *part,
                const struct example_feature *feature) {
    struct feature_stats own = {.name = "own"};
    feature_stats_add(stats, feature);
    feature_stats_add(&own, feature);
    unsigned traits = value_exam_add(exam, feature, false);
    assert_int_equal(traits, traits_of(&own));
    assert_int_equal(value_exam_add(part, feature, false), traits);
}

static void check(const struct feature_stats *stats, const struct value_exam *exam,
                  struct value_exam parts[2]) {
    value_exam_merge(&parts[0], &parts[1]);
    assert_int_equal(value_exam_is_constant(exam), is_constant(stats));
    assert_int_equal(value_exam_is_constant(&parts[0]), is_constant(stats));
    assert_int_equal(exam->has_bytes, stats->bytes_count != 0);
    assert_int_equal(exam->has_nan, stats->nan_count != 0);
    assert_int_equal(exam->has_int64, stats->int64_count != 0);
    assert_int_equal(exam->has_float, stats->float_count != 0);
}

/* Features in every form that the wire allows, a few at a time. */
static void test_features_of_any_form(void **state) {
    (void)state;
    static const struct oddness odd = {50, 50, 50, 0};
    static struct message message;
    struct random_state random = {1};
    struct example_features features = EXAMPLE_FEATURES_INIT;
    for (unsigned round = 0; round < 20000; round++) {
        struct feature_stats stats = {.name = "all"};
        struct value_exam exam = {0}, parts[2] = {{0}, {0}};
        for (unsigned half = 0; half < 2; half++) {
            random_example(&message, &random, &odd);
            if (example_features_read(&features, message.data, message.size, NULL) != RECMAP_OK)
                continue; /* a group was nested too deep */
            for (size_t i = 0; i < features.count && i < 2; i++)
                add(&stats, &exam, &parts[half], &features.entries[i].feature);
        }
        check(&stats, &exam, parts);
    }
    example_features_deinit(&features);
}

static uint32_t draw_float(struct random_state *random) {
    static const uint32_t odd[] = {0x7fc00000, 0xff800000, 0x7f800000, 0x4b800000, 0x4b800001,
                                   0xcb800001, 0x5f000000, 0x5effffff, 0x80000000, 0};
    return draw_below(random, 200) ? 0x3f800000 : odd[draw_below(random, 10)];
}

/* Packed lists of any length, in which most values are the same. */
static void put_list(struct message *features, struct random_state *random, bool is_float) {
    static struct message packed, list;
    size_t count = (size_t)draw_below(random, draw_below(random, 4) ? 12 : VALUES_MAX);
    uint64_t rarity = 1 + draw_below(random, 2000);
    packed.size = list.size = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[4];
        if (is_float) {
            store32(bytes, draw_float(random));
            put_raw(&packed, bytes, sizeof bytes);
        } else {
            put_varint(&packed, draw_below(random, rarity) ? 300 : draw_below(random, 302));
        }
    }
    put_sub(&list, 1, &packed);
    put_entry(features, "k", is_float ? 2 : 3, &list);
}

static void test_lists_of_equal_values(void **state) {
    (void)state;
    static struct message message, map;
    struct random_state random = {2};
    struct example_features features = EXAMPLE_FEATURES_INIT;
    unsigned constants = 0;
    for (unsigned round = 0; round < 10000; round++) {
        struct feature_stats stats = {.name = "all"};
        struct value_exam exam = {0}, parts[2] = {{0}, {0}};
        for (unsigned half = 0; half < 2; half++) {
            message.size = map.size = 0;
            put_list(&map, &random, round % 2);
            put_sub(&message, 1, &map);
            assert_int_equal(example_features_read(&features, message.data, message.size, NULL),
                             RECMAP_OK);
            add(&stats, &exam, &parts[half], &features.entries[0].feature);
        }
        check(&stats, &exam, parts);
        constants += is_constant(&stats);
    }
    assert_in_range(constants, 1000, 9000);
    example_features_deinit(&features);
}

/* Lists of numbers that are not packed, so that the values are iterated over. */
static void test_values_of_steps(void **state) {
    (void)state;
    static const char *const features[] = {"1a0408050806", "120a0d0000803f0d0000c07f"};
    static struct message record, lists, entry, list, step;
    struct sequence_features sequence = {.steps = NULL};
    struct value_exam exam = {0};
    for (size_t i = 0; i < 2; i++) {
        step.size = 0;
        put_hex(&step, features[i]);
        put_sub(&list, 1, &step);
    }
    put_bytes(&entry, 1, "k", 1);
    put_sub(&entry, 2, &list);
    put_sub(&lists, 1, &entry);
    put_sub(&record, 2, &lists);
    assert_int_equal(sequence_features_read(&sequence, record.data, record.size, NULL), RECMAP_OK);
    assert_int_equal(sequence.step_count, 2);
    assert_int_equal(value_exam_add(&exam, &sequence.steps[0], true), 0); /* 5 and 6 */
    assert_true(exam.has_int64 && exam.has_other_int64);
    assert_int_equal(value_exam_add(&exam, &sequence.steps[1], true), NUMBER_NAN); /* 1 and NaN */
    sequence_features_deinit(&sequence);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_of_any_form),
        cmocka_unit_test(test_lists_of_equal_values),
        cmocka_unit_test(test_values_of_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
