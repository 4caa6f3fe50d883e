/* Dealing an epoch to ranks: everything once, steps alike for all, and resuming in another world.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/random.h"
#include "check.h"
#include "make.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { RANKS_MAX = 256, BATCH_MAX = 512 };

static recmap_deal_options options_of(uint32_t world, uint64_t batch, recmap_last last) {
    recmap_deal_options options = RECMAP_DEAL_OPTIONS_INIT;
    options.world_size = world;
    options.batch_size = batch;
    options.last = last;
    return options;
}

/* Checks what rank `rank` gets in all steps of an epoch of n records: `expected`, ended by -1. */
static void expect_rank(uint64_t n, uint32_t world, uint64_t batch, recmap_last last, uint32_t rank,
                        const int *expected) {
    recmap_order *order = sequential(n);
    recmap_deal_options options = options_of(world, batch, last);
    recmap_deal deal;
    MUST(recmap_deal_init(&deal, order, 0, 0, &options, &error));
    size_t at = 0;
    for (uint64_t step = 0; step < deal.step_count; step++) {
        recmap_share share;
        uint64_t numbers[BATCH_MAX];
        MUST(recmap_deal_share(&share, &deal, step, rank, &error));
        MUST(recmap_deal_numbers(numbers, &deal, &share, &error));
        for (uint64_t i = 0; i < share.count; i++) assert_int_equal(numbers[i], expected[at++]);
    }
    assert_int_equal(expected[at], -1);
    recmap_order_release(order);
}

static void test_even_and_strided_splits(void **state) {
    (void)state;
    static const int even[][10] = {{0, 1, 2, -1},       {3, 4, 5, -1},    {6, 7, 8, -1},
                                   {0, 1, 2, 3, 4, -1}, {5, 6, 7, 8, -1}, {0, 1, 2, -1},
                                   {3, 4, 5, -1},       {6, 7, -1}};
    for (uint32_t r = 0; r < 3; r++) expect_rank(9, 3, 3, RECMAP_LAST_DROP, r, even[r]);
    for (uint32_t r = 0; r < 2; r++) expect_rank(9, 2, 9, RECMAP_LAST_KEEP, r, even[3 + r]);
    for (uint32_t r = 0; r < 3; r++) expect_rank(8, 3, 8, RECMAP_LAST_KEEP, r, even[5 + r]);
    static const int strided[][5] = {{0, 3, 6, 9, -1}, {1, 4, 7, -1}, {2, 5, 8, -1}};
    static const int dropped[][4] = {{0, 3, 6, -1}, {1, 4, 7, -1}, {2, 5, 8, -1}};
    static const int padded[][5] = {{0, 3, 6, 9, -1}, {1, 4, 7, 0, -1}, {2, 5, 8, 1, -1}};
    for (uint32_t r = 0; r < 3; r++) {
        expect_rank(10, 3, 1, RECMAP_LAST_KEEP, r, strided[r]);
        expect_rank(10, 3, 1, RECMAP_LAST_DROP, r, dropped[r]);
        expect_rank(10, 3, 1, RECMAP_LAST_PAD, r, padded[r]);
    }
}

static void test_34_records_are_dealt_as_16_16_2(void **state) {
    (void)state;
    recmap_order *order = sequential(34);
    recmap_deal_options options = options_of(1, 16, RECMAP_LAST_KEEP);
    recmap_deal deal;
    MUST(recmap_deal_init(&deal, order, 0, 0, &options, &error));
    assert_int_equal(deal.step_count, 3);
    const uint64_t sizes[] = {16, 16, 2};
    for (uint64_t step = 0; step < 3; step++) {
        recmap_share share;
        MUST(recmap_deal_share(&share, &deal, step, 0, &error));
        assert_int_equal(share.count, sizes[step]);
    }
    recmap_order_release(order);
}

/* How often each record of an epoch was seen. */
struct tally {
    uint64_t n;
    uint64_t total;
    uint64_t *times;
};

static struct tally tally_of(uint64_t n) {
    return (struct tally){n, 0, make_array(n, sizeof(uint64_t))};
}

/* Adds what all ranks get in a step; returns how many that are. */
static uint64_t take_step(struct tally *tally, const recmap_deal *deal, uint64_t step) {
    uint64_t numbers[BATCH_MAX], total = 0, max = 0, min = UINT64_MAX;
    for (uint32_t rank = 0; rank < deal->options.world_size; rank++) {
        recmap_share share;
        MUST(recmap_deal_share(&share, deal, step, rank, &error));
        assert_true(share.count <= BATCH_MAX);
        MUST(recmap_deal_numbers(numbers, deal, &share, &error));
        for (uint64_t i = 0; i < share.count; i++) tally->times[numbers[i]]++;
        total += share.count;
        if (share.count > max) max = share.count;
        if (share.count < min) min = share.count;
    }
    tally->total += total;
    /* Without batches of its own a step is even: at most one more for some. */
    if (!recmap_order_batch_count(deal->order)) assert_true(max - min <= 1);
    return total;
}

/* Takes all steps of an epoch and counts how often each record occurs: once, but for the last step,
 * which `last` leaves out, shortens or fills with records from the epoch's start. */
static void check_whole_epoch(recmap_order *order, uint64_t epoch, recmap_deal_options options) {
    uint64_t n = recmap_order_count(order), next_epoch, next;
    uint64_t step_size = options.world_size * options.batch_size;
    recmap_deal deal;
    MUST(recmap_deal_init(&deal, order, epoch, 0, &options, &error));
    uint64_t whole = n / step_size, rest = n % step_size;
    bool has_rest = rest && options.last != RECMAP_LAST_DROP;
    assert_int_equal(deal.step_count, whole + has_rest);
    struct tally seen = tally_of(n);
    for (uint64_t step = 0; step < deal.step_count; step++) {
        uint64_t taken = take_step(&seen, &deal, step);
        bool is_keep = options.last == RECMAP_LAST_KEEP;
        assert_int_equal(taken, is_keep && step == whole ? rest : step_size);
    }
    uint64_t *numbers = whole_epoch(order, epoch);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t expected = 1;
        if (options.last == RECMAP_LAST_DROP) expected = i < whole * step_size;
        if (options.last == RECMAP_LAST_PAD && rest) {
            uint64_t more = step_size - rest;
            expected += more / n + (i < more % n);
        }
        assert_int_equal(seen.times[numbers[i]], expected);
    }
    MUST(recmap_deal_state(&next_epoch, &next, &deal, deal.step_count, &error));
    assert_true(next_epoch == epoch + 1 && next == 0);
    free(numbers);
    free(seen.times);
}

static void test_ranks_share_each_epoch_exactly(void **state) {
    (void)state;
    for (uint64_t n = 1; n <= 50; n++) {
        recmap_order *order = NULL;
        MUST(recmap_order_shuffled(&order, n, n, &error));
        for (uint32_t world = 1; world <= 8; world++)
            for (uint64_t batch = 1; batch <= 7; batch += 2)
                for (int last = 0; last < 3; last++)
                    for (uint64_t epoch = 0; epoch < 3; epoch++)
                        check_whole_epoch(order, epoch,
                                          options_of(world, batch, (recmap_last)last));
        recmap_order_release(order);
    }
}

/* ---- Resuming. */

/* The position of a run. */
struct run {
    recmap_order *order;
    uint64_t epoch, position;
    struct tally seen;
};

/* Continues for up to `steps` steps. Every step takes the next positions of the one global order,
 * whatever the world: the state moves by just as many, and they were not seen before. */
static void go_on(struct run *run, recmap_deal_options options, uint64_t steps) {
    recmap_deal deal;
    MUST(recmap_deal_init(&deal, run->order, run->epoch, run->position, &options, &error));
    uint64_t n = recmap_order_count(run->order), *whole = whole_epoch(run->order, run->epoch);
    uint64_t begun = run->epoch, consumed = run->position;
    for (uint64_t step = 0; step < steps && step < deal.step_count; step++) {
        consumed += take_step(&run->seen, &deal, step);
        MUST(recmap_deal_state(&run->epoch, &run->position, &deal, step + 1, &error));
        assert_int_equal(run->epoch == begun ? run->position : n, consumed);
        for (uint64_t i = 0; i < n; i++) assert_int_equal(run->seen.times[whole[i]], i < consumed);
    }
    if (!deal.step_count) MUST(recmap_deal_state(&run->epoch, &run->position, &deal, 0, &error));
    free(whole);
}

/* An order of a random kind. */
static recmap_order *make_order(uint64_t seed, uint64_t n) {
    recmap_order *order = NULL;
    int64_t *labels = make_array(n, sizeof *labels);
    for (uint64_t i = 0; i < n; i++) labels[i] = (int64_t)random_below(random_word(seed, i), 5);
    uint64_t batch = 1 + seed % 9;
    switch (seed % 5) {
    case 0: order = sequential(n); break;
    case 1: MUST(recmap_order_shuffled(&order, n, seed, &error)); break;
    case 2: MUST(recmap_order_windowed(&order, n, 1 + seed % 7, 1 + seed % 4, seed, &error)); break;
    case 3: MUST(recmap_order_grouped(&order, labels, n, batch, seed, &error)); break;
    default: MUST(recmap_order_stratified(&order, labels, n, batch, seed, &error)); break;
    }
    free(labels);
    return order;
}

static void check_history(uint64_t seed) {
    uint64_t n = 1 + random_below(random_word(seed, 0), 200);
    struct run run = {.order = make_order(seed, n), .seen = tally_of(n)};
    for (uint64_t i = 1; run.epoch < 2; i++) {
        uint64_t epoch = run.epoch;
        uint32_t world = 1 + (uint32_t)random_below(random_word(seed, 4 * i), 9);
        uint64_t batch = 1 + random_below(random_word(seed, 4 * i + 1), 12);
        uint64_t steps = random_below(random_word(seed, 4 * i + 2), 5);
        go_on(&run, options_of(world, batch, RECMAP_LAST_KEEP), steps);
        if (run.epoch == epoch) continue;
        for (uint64_t record = 0; record < n; record++) assert_int_equal(run.seen.times[record], 1);
        assert_int_equal(run.position, 0);
        memset(run.seen.times, 0, n * sizeof *run.seen.times);
    }
    free(run.seen.times);
    recmap_order_release(run.order);
}

static void test_random_histories_use_each_position_once(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < (is_long() ? 20000 : 1000); seed++) check_history(seed);
}

/* One world for some steps, then another to the end of the epoch. */
static void check_elastic(uint64_t n, uint32_t world, uint64_t batch, uint64_t steps,
                          uint32_t other_world, uint64_t other_batch) {
    struct run run = {.seen = tally_of(n)};
    MUST(recmap_order_shuffled(&run.order, n, 42, &error));
    go_on(&run, options_of(world, batch, RECMAP_LAST_KEEP), steps);
    assert_int_equal(run.position, steps * world * batch);
    go_on(&run, options_of(other_world, other_batch, RECMAP_LAST_KEEP), UINT64_MAX);
    assert_true(run.epoch == 1 && run.position == 0 && run.seen.total == n);
    for (uint64_t i = 0; i < n; i++) assert_int_equal(run.seen.times[i], 1);
    free(run.seen.times);
    recmap_order_release(run.order);
}

static void test_worlds_may_change_between_steps(void **state) {
    (void)state;
    check_elastic(1024, 32, 2, 7, 16, 2);
    check_elastic(1024, 32, 2, 7, 16, 3);
    check_elastic(4096, 8, 32, 5, 4, 32);
    check_elastic(4096, 8, 16, 5, 64, 2);
    check_elastic(4096, 4, 16, 5, 6, 16);
    check_elastic(4099, 4, 16, 5, 7, 13);
    check_elastic(5, 3, 1, 1, 8, 8);
}

/* ---- Orders that make their own batches. */

static void test_batches_of_the_order_are_dealt_whole(void **state) {
    (void)state;
    int64_t labels[100];
    for (int i = 0; i < 100; i++) labels[i] = i % 3;
    recmap_order *order = NULL;
    MUST(recmap_order_grouped(&order, labels, 100, 7, 1, &error)); /* 5 batches a group */
    assert_int_equal(recmap_order_batch_count(order), 15);
    const uint64_t steps[] = {4, 3, 4};
    for (int last = 0; last < 3; last++) {
        recmap_deal_options options = options_of(4, 0, (recmap_last)last);
        recmap_deal deal;
        MUST(recmap_deal_init(&deal, order, 0, 0, &options, &error));
        assert_int_equal(deal.step_count, steps[last]);
        for (uint64_t step = 0; step < deal.step_count; step++)
            for (uint32_t rank = 0; rank < 4; rank++) {
                recmap_share share;
                uint64_t first = 0, count = 0, batch = 4 * step + rank;
                MUST(recmap_deal_share(&share, &deal, step, rank, &error));
                if (batch < 15 || last == RECMAP_LAST_PAD)
                    MUST(recmap_order_batch(&first, &count, order, 0, batch % 15, &error));
                assert_int_equal(share.count, count);
                if (count) assert_int_equal(share.first, first);
            }
    }
    recmap_order_release(order);
}

/* A start inside a batch: the rest of that batch comes first, then everything after it. */
static void test_start_inside_a_batch(void **state) {
    (void)state;
    int64_t labels[100] = {0};
    recmap_order *order = NULL;
    MUST(recmap_order_grouped(&order, labels, 100, 8, 1, &error));
    for (uint64_t position = 0; position <= 100; position++) {
        recmap_deal_options options = options_of(3, 1, RECMAP_LAST_KEEP);
        recmap_deal deal;
        struct tally seen = tally_of(100);
        MUST(recmap_deal_init(&deal, order, 0, position, &options, &error));
        for (uint64_t step = 0; step < deal.step_count; step++) take_step(&seen, &deal, step);
        uint64_t *whole = whole_epoch(order, 0), epoch, next;
        for (uint64_t i = 0; i < 100; i++) assert_int_equal(seen.times[whole[i]], i >= position);
        MUST(recmap_deal_state(&epoch, &next, &deal, 0, &error));
        assert_int_equal(epoch == 0 ? next : 100, position);
        free(whole);
        free(seen.times);
    }
    recmap_order_release(order);
}

/* ---- Ends and nonsense. */

static void test_positions_at_the_end_leave_no_steps(void **state) {
    (void)state;
    recmap_order *order = sequential(10), *empty = sequential(0);
    recmap_deal deal;
    uint64_t epoch, position;
    MUST(recmap_deal_init(&deal, order, 7, 10, NULL, &error));
    assert_int_equal(deal.step_count, 0);
    MUST(recmap_deal_state(&epoch, &position, &deal, 0, &error));
    assert_true(epoch == 8 && position == 0);
    MUST(recmap_deal_init(&deal, empty, 0, 0, NULL, &error));
    assert_int_equal(deal.step_count, 0);
    /* A deal that drops everything is at the end at once. */
    recmap_deal_options options = options_of(4, 4, RECMAP_LAST_DROP);
    MUST(recmap_deal_init(&deal, order, 0, 0, &options, &error));
    assert_int_equal(deal.step_count, 0);
    MUST(recmap_deal_state(&epoch, &position, &deal, 0, &error));
    assert_true(epoch == 1 && position == 0);
    recmap_order_release(order);
    recmap_order_release(empty);
}

/* Steps counted over the epochs of a run are those of the deals of its epochs, one after another.
 */
static void test_steps_of_a_run_are_found(void **state) {
    (void)state;
    enum { N = 103, EPOCHS = 4 };
    recmap_order *order;
    MUST(recmap_order_shuffled(&order, N, 5, &error));
    for (uint64_t position = 0; position <= N; position += 17)
        for (int last = 0; last < 3; last++) {
            recmap_deal_options options = options_of(3, 8, (recmap_last)last);
            uint64_t step = 0, index;
            for (uint64_t epoch = 2; epoch < 2 + EPOCHS; epoch++) {
                recmap_deal deal, found;
                MUST(recmap_deal_init(&deal, order, epoch, epoch == 2 ? position : 0, &options,
                                      &error));
                for (uint64_t i = 0; i < deal.step_count; i++, step++) {
                    MUST(recmap_deal_find_step(&found, &index, order, 2, position, &options, step,
                                               &error));
                    assert_int_equal(found.epoch, epoch);
                    assert_int_equal(found.position, deal.position);
                    assert_int_equal(index, i);
                }
            }
        }
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_deal found;
    uint64_t index;
    recmap_deal_options options = options_of(3, N, RECMAP_LAST_DROP);
    assert_int_equal(recmap_deal_find_step(&found, &index, order, 0, 0, &options, 0, &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message, "an epoch has no steps");
    options = options_of(1, N, RECMAP_LAST_KEEP);
    assert_int_equal(
        recmap_deal_find_step(&found, &index, order, 1, 0, &options, UINT64_C(1) << 62, &error),
        RECMAP_INVALID);
    recmap_order_release(order);
}

static void test_hostile_arguments_are_refused(void **state) {
    (void)state;
    recmap_order *order = sequential(10);
    recmap_deal deal = {.epoch = 77};
    recmap_deal_options options = options_of(0, 1, RECMAP_LAST_KEEP);
    MUST_FAIL(RECMAP_INVALID, "world size", recmap_deal_init(&deal, order, 0, 0, &options, &error));
    options = options_of(1, 0, RECMAP_LAST_KEEP);
    MUST_FAIL(RECMAP_INVALID, "batch", recmap_deal_init(&deal, order, 0, 0, &options, &error));
    options = options_of(UINT32_MAX, UINT64_MAX, RECMAP_LAST_KEEP);
    MUST_FAIL(RECMAP_INVALID, "too large", recmap_deal_init(&deal, order, 0, 0, &options, &error));
    options = options_of(1, 1, (recmap_last)3);
    MUST_FAIL(RECMAP_INVALID, "last step", recmap_deal_init(&deal, order, 0, 0, &options, &error));
    options = options_of(1, 1, RECMAP_LAST_KEEP);
    options.version = 9;
    MUST_FAIL(RECMAP_INVALID, "version", recmap_deal_init(&deal, order, 0, 0, &options, &error));
    MUST_FAIL(RECMAP_INVALID, "position 11", recmap_deal_init(&deal, order, 0, 11, NULL, &error));
    assert_int_equal(deal.epoch, 77);
    MUST(recmap_deal_init(&deal, order, 0, 0, NULL, &error));
    recmap_share share = {77, 77};
    uint64_t epoch = 77, position = 77;
    MUST_FAIL(RECMAP_INVALID, "step 10", recmap_deal_share(&share, &deal, 10, 0, &error));
    MUST_FAIL(RECMAP_INVALID, "rank 1", recmap_deal_share(&share, &deal, 0, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "11 steps", recmap_deal_state(&epoch, &position, &deal, 11, &error));
    assert_true(share.first == 77 && epoch == 77 && position == 77);
    recmap_order_release(order);
    /* The largest orders and worlds: no product wraps. */
    order = sequential(RECMAP_ORDER_COUNT_MAX);
    options = options_of(UINT32_MAX, 1 << 20, RECMAP_LAST_PAD);
    MUST(recmap_deal_init(&deal, order, 0, RECMAP_ORDER_COUNT_MAX - 3, &options, &error));
    assert_int_equal(deal.step_count, 1);
    MUST(recmap_deal_share(&share, &deal, 0, UINT32_MAX - 1, &error));
    assert_true(share.first == RECMAP_ORDER_COUNT_MAX - 3 + (UINT64_C(4294967294) << 20));
    recmap_order_release(order);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even_and_strided_splits),
        cmocka_unit_test(test_34_records_are_dealt_as_16_16_2),
        cmocka_unit_test(test_ranks_share_each_epoch_exactly),
        cmocka_unit_test(test_random_histories_use_each_position_once),
        cmocka_unit_test(test_worlds_may_change_between_steps),
        cmocka_unit_test(test_batches_of_the_order_are_dealt_whole),
        cmocka_unit_test(test_start_inside_a_batch),
        cmocka_unit_test(test_positions_at_the_end_leave_no_steps),
        cmocka_unit_test(test_steps_of_a_run_are_found),
        cmocka_unit_test(test_hostile_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
