/* Whole examinations: what they find depends neither on the number of threads nor on the order in
 * which records store their features. */
#include <recmap/doctor.h>
#include <recmap/writer.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "unit/parse/example/random_example.h"

/* What one examination gives: its report, and the records that it lists. */
struct outcome {
    recmap_text report;
    uint64_t records[1 << 14];
    size_t record_count;
};

static void examine(struct outcome *outcome, const char *index, unsigned threads) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_doctor_options options = RECMAP_DOCTOR_OPTIONS_INIT;
    recmap_diagnosis *diagnosis;
    recmap_dataset *dataset = dataset_open(index, NULL);
    size_t count = (size_t)recmap_dataset_count(dataset);
    options.thread_count = threads;
    options.lists_records = 1;
    ASSERT_OK(recmap_dataset_examine(&diagnosis, dataset, NULL, count, &options, &error), &error);
    outcome->report = (recmap_text)RECMAP_TEXT_INIT;
    ASSERT_OK(recmap_diagnosis_to_json(&outcome->report, diagnosis, &error), &error);
    outcome->record_count = recmap_diagnosis_record_count(diagnosis);
    assert_in_range(outcome->record_count, 0, sizeof outcome->records / 8);
    if (outcome->record_count)
        memcpy(outcome->records, recmap_diagnosis_records(diagnosis), outcome->record_count * 8);
    recmap_diagnosis_destroy(diagnosis);
    recmap_dataset_close(dataset);
}

static void check_equal(struct outcome *outcome, const struct outcome *expected) {
    assert_string_equal(outcome->report.data, expected->report.data);
    assert_int_equal(outcome->record_count, expected->record_count);
    if (expected->record_count)
        assert_memory_equal(outcome->records, expected->records, expected->record_count * 8);
    recmap_text_deinit(&outcome->report);
}

/* ---- Random sets. */

typedef void (*put_record_fn)(struct message *record, struct random_state *random, uint64_t number);

/* Few records are examined by several threads only if they are large. */
static void put_padding(struct message *record, size_t size) {
    static const uint8_t zeros[1 << 12];
    static struct message features, list;
    features.size = list.size = 0;
    put_bytes(&list, 1, zeros, size);
    put_entry(&features, "padding", 1, &list);
    put_sub(record, 1, &features);
}

static void write_set(const char *index, put_record_fn put_record, uint64_t count, uint64_t seed,
                      size_t padding) {
    static struct message record;
    struct random_state random = {seed};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = index;
    ASSERT_OK(recmap_writer_create(&writer, "set.tfrecord", &options, &error), &error);
    for (uint64_t i = 0; i < count; i++) {
        record.size = 0;
        put_record(&record, &random, i);
        if (padding) put_padding(&record, padding);
        ASSERT_OK(recmap_writer_write(writer, record.data, record.size, &error), &error);
    }
    ASSERT_OK(recmap_writer_finish(writer, &error), &error);
    recmap_writer_destroy(writer);
}

/* Examples in any form, some of them damaged, so that they are other records. */
static void put_any(struct message *record, struct random_state *random, uint64_t number) {
    static const struct oddness odd = {20, 10, 50, 0};
    (void)number;
    random_example(record, random, &odd);
    if (!draw_below(random, 50)) random_damage(record, random);
}

/* Features that records lack now and then, or only from some record on; of few lengths in the first
 * records and of many later; flags of episodes; names made of data. */
static void put_varied(struct message *record, struct random_state *random, uint64_t number) {
    static const char *const names[] = {"a", "b/length", "c", "steps/is_first", "steps/x", "z"};
    static struct message features;
    int64_t values[64] = {0};
    features.size = 0;
    for (size_t i = 0; i < 6; i++) {
        char name[32];
        size_t count = (size_t)draw_below(random, number < 700 ? 3 : 40);
        if (!draw_below(random, 20) || (i == 5 && number < 1500)) continue;
        if (i == 2) count = draw_below(random, 30) ? 4 : 5;
        for (size_t j = 0; j < count; j++) values[j] = (int64_t)draw_below(random, i + 1);
        snprintf(name, sizeof name, "%s", names[i]);
        if (!draw_below(random, 40)) snprintf(name, sizeof name, "n%d", (int)(number % 900));
        put_int64s(&features, name, values, count);
    }
    put_sub(record, 1, &features);
}

/* SequenceExamples among Examples. */
static void put_sequence(struct message *record, struct random_state *random, uint64_t number) {
    static struct message map, entry, list, step;
    static const int64_t value = 1;
    if (!draw_below(random, 9)) {
        put_varied(record, random, number);
        return;
    }
    map.size = 0;
    for (size_t i = 0; i < 3; i++) {
        char name = (char)('x' + i);
        entry.size = list.size = 0;
        for (uint64_t j = draw_below(random, 6); j; j--) {
            step.size = 0;
            put_int64s(&step, "", &value, 1);
            put_sub(&list, 1, &step);
        }
        put_bytes(&entry, 1, &name, 1);
        put_sub(&entry, 2, &list);
        put_sub(&map, 1, &entry);
    }
    put_sub(record, 2, &map);
}

static void check_threads(put_record_fn put_record, uint64_t count, uint64_t seed, size_t padding) {
    static struct outcome expected, outcome;
    static const unsigned threads[] = {2, 3, 8};
    write_set("set.rmx", put_record, count, seed, padding);
    examine(&expected, "set.rmx", 1);
    for (size_t i = 0; i < 3; i++) {
        examine(&outcome, "set.rmx", threads[i]);
        check_equal(&outcome, &expected);
    }
    recmap_text_deinit(&expected.report);
}

static void test_threads_change_nothing(void **state) {
    (void)state;
    static const put_record_fn puts[] = {put_any, put_varied, put_sequence};
    for (uint64_t seed = 1; seed <= (is_long() ? 60 : 6); seed++)
        for (size_t i = 0; i < sizeof puts / sizeof *puts; i++) {
            check_threads(puts[i], 1 + seed, seed, 4000);
            check_threads(puts[i], 30 * seed, seed, 4000);
            check_threads(puts[i], 2500 + seed, seed, 0);
        }
    for (size_t i = 0; i < sizeof puts / sizeof *puts; i++) /* read in several groups */
        check_threads(puts[i], 8192 + 2500, 1, 0);
}

/* More features than parts may keep. */
static void put_many_names(struct message *record, struct random_state *random, uint64_t number) {
    static struct message features;
    static const int64_t value = 3;
    (void)random;
    features.size = 0;
    for (size_t i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d", (int)(number * 37 + i));
        put_int64s(&features, name, &value, 1);
    }
    put_sub(record, 1, &features);
}

static void test_threads_and_too_many_features(void **state) {
    (void)state;
    check_threads(put_many_names, 2200, 1, 0);
}

/* ---- The order of features. */

enum { NAMES = 7 };

/* Which features a record has, in which order it stores them, and which it stores twice. */
struct plan {
    size_t order[NAMES];
    bool is_lacking[NAMES];
    int64_t values[NAMES];
};

static struct plan draw_plan(struct random_state *random) {
    struct plan plan;
    for (size_t i = 0; i < NAMES; i++) {
        size_t other = (size_t)draw_below(random, i + 1);
        plan.order[i] = plan.order[other];
        plan.order[other] = i;
        plan.is_lacking[i] = !draw_below(random, 12);
        plan.values[i] = (int64_t)draw_below(random, i ? 1000 : 1 << 30);
    }
    return plan;
}

static void put_planned(struct message *record, const struct plan *plan, const size_t *order,
                        const bool *is_repeated) {
    static const char *const names[NAMES] = {"a", "b", "bb", "is_first", "is_last", "x", "yyyyyyy"};
    static struct message features;
    static const int64_t other[] = {1, 2, 3};
    features.size = 0;
    for (size_t i = 0; i < NAMES; i++) {
        size_t name = order[i];
        if (plan->is_lacking[name]) continue;
        if (is_repeated[name]) put_int64s(&features, names[name], other, 3);
    }
    for (size_t i = 0; i < NAMES; i++) {
        size_t name = order[i];
        if (plan->is_lacking[name]) continue;
        int64_t values[2] = {plan->values[name], plan->values[name] % 2};
        put_int64s(&features, names[name], values, 1 + (size_t)(plan->values[name] % 3 == 0));
    }
    put_sub(record, 1, &features);
}

static void put_sorted(struct message *record, struct random_state *random, uint64_t number) {
    static const size_t order[NAMES] = {0, 1, 2, 3, 4, 5, 6};
    static const bool is_repeated[NAMES] = {false};
    struct random_state own = {random->state + number};
    struct plan plan = draw_plan(&own);
    put_planned(record, &plan, order, is_repeated);
}

static void put_shuffled(struct message *record, struct random_state *random, uint64_t number) {
    struct random_state own = {random->state + number};
    struct plan plan = draw_plan(&own);
    bool is_repeated[NAMES];
    for (size_t i = 0; i < NAMES; i++) is_repeated[i] = number % 3 == 0 && !draw_below(&own, 5);
    put_planned(record, &plan, plan.order, is_repeated);
}

static void test_the_order_of_features_changes_nothing(void **state) {
    (void)state;
    static struct outcome expected, outcome;
    for (uint64_t seed = 1; seed < 20; seed++) {
        write_set("set.rmx", put_sorted, 50 * seed, seed << 32, 0);
        examine(&expected, "set.rmx", 1);
        write_set("set.rmx", put_shuffled, 50 * seed, seed << 32, 0);
        examine(&outcome, "set.rmx", 1 + (unsigned)seed % 3);
        check_equal(&outcome, &expected);
        recmap_text_deinit(&expected.report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_threads_change_nothing, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_threads_and_too_many_features, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_the_order_of_features_changes_nothing, folder_enter,
                                        folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
