/* Equal records are found in bounded memory, also if not all records can be kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/doctor/equal_records.h"
#include "support/random.h"

enum { KEPT_MAX = 1 << 22 };

static void add(struct equal_records *records, uint64_t item, uint64_t contents) {
    assert_int_equal(equal_records_add(records, item, &contents, sizeof contents, NULL), RECMAP_OK);
    assert_true(records->count <= KEPT_MAX);
}

/* The contents of a record decide if it is kept, so both of an equal pair are kept or neither.
 */
static void test_pairs_are_kept_together(void **state) {
    (void)state;
    struct equal_records records = {0};
    enum { COUNT = KEPT_MAX / 4 * 5 };
    for (uint64_t item = 0; item < COUNT; item++) add(&records, item, item / 2);
    assert_int_equal(records.zeros, 1);
    assert_in_range(records.count, COUNT / 2 - COUNT / 100, COUNT / 2 + COUNT / 100);
    for (size_t i = 0; i + 1 < records.count; i += 2) {
        assert_int_equal(records.hashes[i].item + 1, records.hashes[i + 1].item);
        assert_int_equal(records.hashes[i].low, records.hashes[i + 1].low);
    }
    equal_records_deinit(&records);
}

static void test_all_records_are_equal(void **state) {
    (void)state;
    struct equal_records records = {0};
    for (uint64_t item = 0; item < KEPT_MAX + 10; item++) add(&records, item, 7);
    assert_true(records.count == KEPT_MAX || !records.count);
    equal_records_deinit(&records);
}

/* ---- Reporting. */

/* Everything is in one shard of one set. */
static struct examination make_examination(recmap_diagnosis *diagnosis) {
    static struct listed_shard shard = {.name = "shard"};
    static struct listed_entry entry;
    static const recmap_doctor_options options = RECMAP_DOCTOR_OPTIONS_INIT;
    return (struct examination){
        .diagnosis = diagnosis,
        .options = &options,
        .shards = {.shards = &shard, .count = 1, .entries = &entry, .entry_count = 1}};
}

/* Hashes that agree in any of their parts: in the bits that are sorted by, below and above them. */
static void draw_hashes(struct record_hash *hashes, size_t count, struct rng *random) {
    for (size_t i = 0; i < count; i++) {
        uint64_t high = rng_below(random, 2), low = rng_below(random, 3) << 50;
        low |= rng_below(random, 3) << 40 | rng_below(random, 3) << 8 | rng_below(random, 2);
        hashes[i] = (struct record_hash){low, high, i};
    }
}

static bool are_equal(const struct record_hash *a, const struct record_hash *b) {
    return a->low == b->low && a->high == b->high;
}

/* Counts the hashes that equal an earlier one. `first` is the first of them, and `earlier` the
 * first that it equals. */
static size_t count_equal(size_t *first, size_t *earlier, const struct record_hash *hashes,
                          size_t count) {
    size_t equal_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (!are_equal(&hashes[j], &hashes[i])) j++;
        if (j == i) continue;
        if (equal_count++) continue;
        *first = i;
        *earlier = j;
    }
    return equal_count;
}

static void check_report(struct rng *random) {
    struct record_hash hashes[300];
    size_t count = (size_t)rng_below(random, 300), first = 0, earlier = 0;
    struct equal_records records = {.hashes = hashes, .count = count};
    struct recmap_diagnosis diagnosis = {.findings = NULL};
    struct examination examination = make_examination(&diagnosis);
    char expected[128];
    draw_hashes(hashes, count, random);
    size_t equal_count = count_equal(&first, &earlier, hashes, count);
    assert_int_equal(equal_records_report(&records, &examination, NULL), RECMAP_OK);
    assert_int_equal(diagnosis.count, equal_count > 0);
    if (!equal_count) return;
    snprintf(expected, sizeof expected,
             "%zu record%s equal to an earlier one; the first is equal to record %zu", equal_count,
             equal_count == 1 ? " is" : "s are", earlier);
    assert_string_equal(diagnosis.findings[0].message, expected);
    assert_int_equal(diagnosis.findings[0].record, first);
    free(diagnosis.findings[0].shard);
    free(diagnosis.findings[0].message);
    free(diagnosis.findings);
}

static void test_equal_hashes_are_reported(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct rng random = {seed};
        check_report(&random);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_are_kept_together),
        cmocka_unit_test(test_all_records_are_equal),
        cmocka_unit_test(test_equal_hashes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
