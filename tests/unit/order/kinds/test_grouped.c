/* Orders that make their own batches: grouped, bucketed and stratified. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/permutation/random.h"
#include "check.h"
#include "make.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Groups. */

/* Each batch has one label, at most one batch per label is short, and another epoch has another
 * order. */
static void check_grouped(const recmap_order *order, const int64_t *labels, size_t n,
                          uint64_t batch_size) {
    uint64_t short_batches = 0, groups = 0, moved = 0;
    uint64_t *whole = whole_epoch(order, 0), *next = whole_epoch(order, 1);
    for (uint64_t b = 0; b < recmap_order_batch_count(order); b++) {
        uint64_t first, count;
        MUST(recmap_order_batch(&first, &count, order, 0, b, &error));
        assert_true(count <= batch_size);
        short_batches += count < batch_size;
        for (uint64_t i = first; i < first + count; i++)
            assert_int_equal(labels[whole[i]], labels[whole[first]]);
    }
    for (int64_t label = -15; label < 1000; label += 10)
        for (size_t i = 0; i < n; i++)
            if (labels[i] == label) {
                groups++;
                break;
            }
    assert_true(short_batches <= groups);
    for (size_t i = 0; i < n; i++) moved += whole[i] != next[i];
    assert_true(moved > n / 2);
    free(whole);
    free(next);
}

static void test_batches_have_one_group(void **state) {
    (void)state;
    for (uint64_t classes = 2; classes < 100; classes = classes * 3 + 1)
        for (uint64_t batch = 1; batch < 100; batch *= 4) {
            int64_t *labels = make_labels(2000, classes, batch);
            recmap_order *order = NULL;
            MUST(recmap_order_grouped(&order, labels, 2000, batch, 7, &error));
            check_grouped(order, labels, 2000, batch);
            recmap_order_release(order);
            free(labels);
        }
}

/* The batches of a group are at random positions: the first batch belongs to each group in
 * proportion to its share. */
static void test_batches_are_shuffled(void **state) {
    (void)state;
    enum { N = 120, BATCH = 4, GROUPS = 5, EPOCHS = 20000 };
    int64_t labels[N];
    uint64_t found[GROUPS] = {0}, record[N] = {0};
    double expected[GROUPS] = {0}, alike[N];
    for (int i = 0; i < N; i++) {
        labels[i] = i % 30 < 10 ? 0 : i % 30 < 18 ? 1 : i % 30 < 26 ? 2 : i % 30 < 28 ? 3 : 4;
        alike[i] = (double)EPOCHS * BATCH / N;
    }
    for (int i = 0; i < N; i++) expected[labels[i]] += (double)EPOCHS / N;
    recmap_order *order = NULL;
    MUST(recmap_order_grouped(&order, labels, N, BATCH, 1, &error));
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint64_t numbers[BATCH];
        MUST(recmap_order_read(numbers, order, epoch, 0, BATCH, &error));
        found[labels[numbers[0]]]++;
        for (int i = 0; i < BATCH; i++) record[numbers[i]]++;
    }
    assert_true(chi_square_z(found, expected, GROUPS) < 5);
    /* Records of a batch hang together, so that the counts vary up to BATCH times as much. */
    assert_true(chi_square_z(record, alike, N) < 5.0 * BATCH * sqrt(N));
    recmap_order_release(order);
}

/* Lengths that differ by orders of magnitude. Each batch must stay within its budget when padded to
 * its longest record, and all its records must be from one bucket, so that less than half is
 * padding. */
static void test_batches_stay_within_their_budget(void **state) {
    (void)state;
    enum { N = 5000 };
    static const int64_t bounds[] = {16, 32, 64, 128, 256};
    int64_t lengths[N];
    for (uint64_t i = 0; i < N; i++)
        lengths[i] = (int64_t)(random_below(random_word(1, i), 700) >> random_word(2, i) % 6);
    recmap_bucket_size size = {0, 4096};
    recmap_order *order = NULL;
    MUST(recmap_order_bucketed(&order, lengths, N, bounds, COUNT(bounds), size, 3, &error));
    uint64_t *whole = whole_epoch(order, 0), padded = 0, tokens = 0;
    for (uint64_t b = 0; b < recmap_order_batch_count(order); b++) {
        uint64_t first, count;
        int64_t longest = 0, shortest = INT64_MAX;
        MUST(recmap_order_batch(&first, &count, order, 0, b, &error));
        for (uint64_t i = first; i < first + count; i++) {
            int64_t length = lengths[whole[i]];
            tokens += (uint64_t)length;
            if (length > longest) longest = length;
            if (length < shortest) shortest = length;
        }
        assert_true((uint64_t)longest * count <= 4096);
        for (size_t i = 0; i < COUNT(bounds); i++)
            assert_true((longest < bounds[i]) == (shortest < bounds[i]));
        padded += (uint64_t)longest * count;
    }
    assert_true(padded < 2 * tokens);
    free(whole);
    check_once(order);
}

/* In each batch, the count of every class differs from its exact share by less than 2. */
static void check_strata(uint64_t classes, uint64_t batch) {
    enum { N = 3000 };
    int64_t *labels = make_labels(N, classes, batch);
    uint64_t sizes[128] = {0};
    for (int i = 0; i < N; i++) sizes[(labels[i] + 15) / 10]++;
    recmap_order *order = NULL;
    MUST(recmap_order_stratified(&order, labels, N, batch, 2, &error));
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
        uint64_t *whole = whole_epoch(order, epoch);
        for (uint64_t b = 0; b < recmap_order_batch_count(order); b++) {
            uint64_t counts[128] = {0}, first, count;
            MUST(recmap_order_batch(&first, &count, order, epoch, b, &error));
            assert_int_equal(count, N - first < batch ? N - first : batch);
            for (uint64_t i = first; i < first + count; i++) counts[(labels[whole[i]] + 15) / 10]++;
            for (uint64_t c = 0; c < classes; c++)
                assert_true(fabs((double)counts[c] - (double)(sizes[c] * count) / N) < 2);
        }
        free(whole);
    }
    recmap_order_release(order);
    free(labels);
}

static void test_batches_have_each_label_in_proportion(void **state) {
    (void)state;
    for (uint64_t classes = 1; classes < 128; classes = classes * 2 + 1)
        for (uint64_t batch = 1; batch < 1000; batch *= 3) check_strata(classes, batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_have_one_group),
        cmocka_unit_test(test_batches_are_shuffled),
        cmocka_unit_test(test_batches_stay_within_their_budget),
        cmocka_unit_test(test_batches_have_each_label_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
