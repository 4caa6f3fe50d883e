/* Which records lack features, against a plain count over a table of all records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/doctor/feature_table.h"
#include "support/random.h"

enum { NAMES = 12, RECORDS_MAX = 40 };

/* has[i][j]: record i has feature j. */
struct plain {
    bool has[RECORDS_MAX][NAMES];
    size_t count;
};

static uint64_t item_of(size_t record) {
    return 10 + 3 * record;
}

static void fill(struct plain *plain, struct rng *random) {
    uint64_t rarity = 1 + rng_below(random, 6);
    plain->count = 1 + (size_t)rng_below(random, RECORDS_MAX);
    for (size_t i = 0; i < plain->count; i++)
        for (size_t j = 0; j < NAMES; j++) plain->has[i][j] = !rng_one_in(random, rarity);
}

static void add_records(struct feature_table *table, const struct plain *plain,
                        struct rng *random) {
    for (size_t i = 0; i < plain->count; i++) {
        size_t start = (size_t)rng_below(random, NAMES); /* features may come in any order */
        feature_table_begin(table, item_of(i));
        for (size_t k = 0; k < NAMES; k++) {
            size_t j = (start + k) % NAMES;
            uint8_t name[2] = {'f', (uint8_t)('a' + j / 2)};
            struct feature_exam *feature;
            if (!plain->has[i][j]) continue;
            assert_int_equal(feature_table_find(&feature, table, name, sizeof name, j % 2, NULL),
                             RECMAP_OK);
            assert_non_null(feature);
            feature->records.count++;
        }
        feature_table_end(table, item_of(i));
    }
    feature_table_finish(table);
}

static struct occurrence count_lacking(const struct plain *plain, size_t j) {
    struct occurrence lacking = {0, 0};
    for (size_t i = 0; i < plain->count; i++)
        if (!plain->has[i][j] && !lacking.count++) lacking.first = item_of(i);
    return lacking;
}

static void check_feature(struct feature_table *table, const struct plain *plain, size_t j) {
    uint8_t name[2] = {'f', (uint8_t)('a' + j / 2)};
    const struct feature_exam *feature = feature_table_look_up(table, name, sizeof name, j % 2);
    struct occurrence expected = count_lacking(plain, j);
    if (expected.count == plain->count) {
        assert_null(feature);
        return;
    }
    assert_int_equal(feature->lacking.count, expected.count);
    if (expected.count) assert_int_equal(feature->lacking.first, expected.first);
}

static void test_lacking_features(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rng random = {seed};
        struct feature_table table = {0};
        struct plain plain;
        fill(&plain, &random);
        add_records(&table, &plain, &random);
        for (size_t j = 0; j < NAMES; j++) check_feature(&table, &plain, j);
        for (size_t i = 1; i < table.count; i++)
            assert_true(feature_exam_compare(table.features[i - 1], table.features[i]) < 0);
        feature_table_deinit(&table);
    }
}

static void test_further_features_are_left_out(void **state) {
    (void)state;
    struct feature_table table = {0};
    struct feature_exam *feature;
    feature_table_begin(&table, 0);
    for (size_t i = 0; i <= FEATURES_MAX; i++) {
        char name[16];
        int size = snprintf(name, sizeof name, "%zu", i);
        assert_int_equal(
            feature_table_find(&feature, &table, (const uint8_t *)name, (size_t)size, false, NULL),
            RECMAP_OK);
    }
    assert_null(feature);
    assert_true(table.is_full);
    assert_int_equal(table.count, FEATURES_MAX);
    feature_table_deinit(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lacking_features),
        cmocka_unit_test(test_further_features_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
