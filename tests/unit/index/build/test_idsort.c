/* Sorting ids in bounded memory equals sorting them at once: by hash, then in the order in which
 * they came. */
#include "index/build/idsort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/interrupt.h>

#include "support/folder.h"
#include "support/index/build.h"

static int compare(const void *a, const void *b) {
    const struct id_pair *one = a, *other = b;
    if (one->hash != other->hash) return one->hash < other->hash ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

/* The sorter's output must equal qsort's. Frees the pairs, whose numbers ascend. */
static void check_pairs(struct id_pair *pairs, size_t count, struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct idsort *sorter;
    ASSERT_OK(idsort_create(&sorter, "target", &error), &error);
    for (size_t i = 0; i < count; i++) ASSERT_OK(idsort_add(sorter, pairs[i], &error), &error);
    assert_int_equal(idsort_count(sorter), count);
    ASSERT_OK(idsort_finish(sorter, &error), &error);
    qsort(pairs, count, sizeof *pairs, compare);
    size_t taken = 0;
    struct id_pair got[1000];
    for (;;) {
        size_t more, capacity = 1 + (size_t)rng_below(random, 1000);
        ASSERT_OK(idsort_next(sorter, got, capacity, &more, &error), &error);
        if (!more) break;
        assert_true(taken + more <= count);
        assert_memory_equal(got, pairs + taken, more * sizeof *got);
        taken += more;
    }
    assert_int_equal(taken, count);
    idsort_destroy(sorter);
    free(pairs);
    assert_int_equal(folder_count(), 0);
}

static struct id_pair *allocate_pairs(size_t count) {
    return must_realloc(NULL, count * sizeof(struct id_pair));
}

/* Random hashes: few different ones make many duplicates; many pairs make several runs on disk. */
static void check(size_t count, uint64_t hash_limit, struct rng *random) {
    struct id_pair *pairs = allocate_pairs(count);
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct id_pair){rng_below(random, hash_limit), i};
    check_pairs(pairs, count, random);
}

/* The hashes of each run of a buffer are in a range of its own, which begins with the last hash of
 * another. `order` has these ranges by run. */
static void check_ranges(const unsigned *order, size_t run_count, struct rng *random) {
    const size_t run_pairs = 1 << 20;
    const uint64_t range = 5000;
    struct id_pair *pairs = allocate_pairs(run_count * run_pairs);
    for (size_t i = 0; i < run_count * run_pairs; i++)
        pairs[i] = (struct id_pair){order[i / run_pairs] * range + rng_below(random, range + 1), i};
    check_pairs(pairs, run_count * run_pairs, random);
}

static void test_nothing_is_sorted_to_nothing(void **state) {
    (void)state;
    struct rng random = {0};
    check(0, 1, &random);
    check(1, 1, &random);
}

static void test_few_pairs_are_sorted(void **state) {
    (void)state;
    struct rng random = {1};
    for (int round = 0; round < 30; round++)
        check((size_t)rng_skewed(&random, 12), round % 3 ? (uint64_t)1 << 48 : 5, &random);
}

/* More than one buffer: runs are spilled and merged; nothing of it stays in the folder. */
static void test_many_pairs_are_spilled_and_merged(void **state) {
    (void)state;
    struct rng random = {2};
    check((1 << 20) - 1, (uint64_t)1 << 48, &random);
    check(1 << 20, (uint64_t)1 << 48, &random);
    check((1 << 20) + 1, (uint64_t)1 << 48, &random);
    check((1 << 21) + 4097, 1000, &random);
    if (is_long()) check((size_t)12 << 20, (uint64_t)1 << 48, &random);
}

/* Two runs, three and five: with equal hashes in all of them, and with the highest hashes. The last
 * run is shorter than the others; once it has a single pair. */
static void test_runs_are_merged(void **state) {
    (void)state;
    struct rng random = {4};
    for (size_t full_runs = 1; full_runs <= 4; full_runs *= 2)
        check((full_runs << 20) + 1 + (size_t)rng_below(&random, 1 << 20), 3, &random);
    const size_t count = (2 << 20) + 1;
    struct id_pair *pairs = allocate_pairs(count);
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct id_pair){((uint64_t)1 << 48) - 1 - rng_below(&random, 2), i};
    check_pairs(pairs, count, &random);
}

/* Runs that continue each other, that end one after another, and both: a run of three buffers and
 * shorter ones around it. */
static void test_ranges_of_runs(void **state) {
    (void)state;
    struct rng random = {5};
    check_ranges((unsigned[]){0, 1, 2}, 3, &random);
    check_ranges((unsigned[]){2, 1, 0}, 3, &random);
    check_ranges((unsigned[]){3, 0, 1, 2, 1}, 5, &random);
}

/* Equal hashes keep their order within and between runs that continue each other. */
static void test_equal_hashes_keep_their_order(void **state) {
    (void)state;
    struct rng random = {6};
    check((2 << 20) + 1, 1, &random);
}

struct questions {
    size_t count, stop;
};

static int answer(void *context) {
    struct questions *questions = context;
    return questions->count++ == questions->stop;
}

static recmap_status sort_all(size_t count) {
    struct idsort *sorter;
    struct id_pair pairs[1000];
    struct rng random = {3};
    size_t taken = 1;
    recmap_status status = idsort_create(&sorter, "target", NULL);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        status =
            idsort_add(sorter, (struct id_pair){rng_below(&random, (uint64_t)1 << 48), i}, NULL);
    if (status == RECMAP_OK) status = idsort_finish(sorter, NULL);
    while (status == RECMAP_OK && taken) status = idsort_next(sorter, pairs, 1000, &taken, NULL);
    idsort_destroy(sorter);
    return status;
}

/* Three passes over a buffer and a half, and merging, can be stopped at any question. */
static void test_sorting_can_be_interrupted(void **state) {
    (void)state;
    const size_t count = 3 << 19, piece = 1 << 14;
    struct questions all = {0, SIZE_MAX};
    recmap_thread_set_interrupt(answer, &all);
    assert_int_equal(sort_all(count), RECMAP_OK);
    assert_int_equal(all.count, 3 * count / piece + count * 64 / (256 << 10));
    for (size_t stop = 0; stop < all.count; stop += all.count / 8) {
        struct questions questions = {0, stop};
        recmap_thread_set_interrupt(answer, &questions);
        assert_int_equal(sort_all(count), RECMAP_CANCELLED);
        assert_int_equal(questions.count, stop + 1);
        assert_int_equal(folder_count(), 0);
    }
    recmap_thread_set_interrupt(NULL, NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {TEST(nothing_is_sorted_to_nothing),
                                       TEST(few_pairs_are_sorted),
                                       TEST(many_pairs_are_spilled_and_merged),
                                       TEST(runs_are_merged),
                                       TEST(ranges_of_runs),
                                       TEST(equal_hashes_keep_their_order),
                                       TEST(sorting_can_be_interrupted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
