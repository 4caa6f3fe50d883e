/* What a loader gives is what the order and a gather give: every kind of order, world, number of
 * threads and way to deal the last step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "unit/loader/feed/fixture.h"

/* One rank through `epochs` epochs, step by step beside the deal. */
static void iterate_rank(recmap_dataset *dataset, recmap_order *order,
                         const recmap_loader_options *options, int epochs) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader *loader = loader_open(dataset, order, options);
    recmap_deal_options dealt = RECMAP_DEAL_OPTIONS_INIT;
    dealt.world_size = options->world_size;
    dealt.batch_size = options->batch_size;
    dealt.last = options->last;
    recmap_batch *batch = NULL;
    for (uint64_t epoch = 0; epoch < (uint64_t)epochs; epoch++) {
        recmap_deal deal;
        ASSERT_OK(recmap_deal_init(&deal, order, epoch, 0, &dealt, &error), &error);
        for (uint64_t step = 0; step < deal.step_count; step++) {
            recmap_share share;
            uint64_t left, next_epoch, next_position;
            ASSERT_OK(recmap_loader_steps_left(&left, loader, &error), &error);
            assert_int_equal(left, deal.step_count - step);
            ASSERT_OK(recmap_deal_share(&share, &deal, step, options->rank, &error), &error);
            uint64_t *numbers = must_realloc(NULL, (share.count + 1) * sizeof *numbers);
            ASSERT_OK(recmap_deal_numbers(numbers, &deal, &share, &error), &error);
            next_batch(&batch, loader);
            assert_batch(batch, numbers, share.count);
            free(numbers);
            ASSERT_OK(recmap_deal_state(&next_epoch, &next_position, &deal, step + 1, &error),
                      &error);
            assert_stands_at(loader, next_epoch, next_position);
            if (step % 3 == 0) { /* now and then a batch is not given back */
                recmap_batch_destroy(batch);
                batch = NULL;
            }
        }
        next_batch(&batch, loader);
        assert_null(batch);
        assert_stands_at(loader, epoch + 1, 0);
    }
    recmap_loader_destroy(loader);
}

static void iterate_world(recmap_dataset *dataset, recmap_order *order,
                          recmap_loader_options options, int epochs) {
    for (uint32_t rank = 0; rank < options.world_size; rank++) {
        options.rank = rank;
        options.thread_count = rank % 4 + 1;
        iterate_rank(dataset, order, &options, epochs);
    }
}

static void test_every_order_is_delivered(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(211, 5, NULL);
    for (int kind = 0; kind < ORDER_KINDS; kind++) {
        recmap_order *order = order_of_kind(kind, 211, 7);
        for (unsigned world = 1; world <= 4; world++)
            for (int last = RECMAP_LAST_KEEP; last <= RECMAP_LAST_PAD; last++) {
                recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
                options.world_size = world;
                options.batch_size = 3 + world * 5;
                options.last = (recmap_last)last;
                options.batches_ahead = kind % 3 ? 0 : 1 + world;
                iterate_world(dataset, order, options, 3);
            }
        recmap_order_release(order);
    }
    recmap_dataset_close(dataset);
}

static void test_every_number_of_threads(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(500, 3, NULL);
    recmap_order *order = order_of_kind(0, 500, 3);
    for (unsigned threads = 0; threads <= 8; threads++)
        for (unsigned ahead = 0; ahead <= 9; ahead += 3) {
            recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
            options.thread_count = threads;
            options.batches_ahead = ahead;
            options.batch_size = 7;
            iterate_rank(dataset, order, &options, 2);
        }
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

/* Batches and worlds larger than the epoch, epochs without a step, no records at all. */
static void test_small_epochs_end(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(9, 2, NULL);
    for (size_t n = 0; n <= 9; n++)
        for (unsigned world = 1; world <= 12; world += n % 2 ? 1 : 5)
            for (uint64_t batch = 1; batch <= 16; batch *= 4)
                for (int last = RECMAP_LAST_KEEP; last <= RECMAP_LAST_PAD; last++) {
                    recmap_order *order = order_of_kind((int)(n % 2), n, 1);
                    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
                    options.world_size = world;
                    options.batch_size = batch;
                    options.last = (recmap_last)last;
                    iterate_world(dataset, order, options, 3);
                    recmap_order_release(order);
                }
    recmap_dataset_close(dataset);
}

/* 34 records in batches of 16 are 16, 16 and 2, whatever the threads. */
static void test_the_last_batch_is_smaller(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(34, 2, NULL);
    recmap_order *order = order_of_kind(1, 34, 0);
    for (unsigned threads = 0; threads <= 4; threads++) {
        recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
        options.batch_size = 16;
        options.thread_count = threads;
        recmap_loader *loader = loader_open(dataset, order, &options);
        recmap_batch *batch = NULL;
        static const size_t sizes[] = {16, 16, 2};
        for (int epoch = 0; epoch < 2; epoch++) {
            for (int i = 0; i < 3; i++) {
                next_batch(&batch, loader);
                assert_int_equal(recmap_batch_count(batch), sizes[i]);
            }
            next_batch(&batch, loader);
            assert_null(batch);
        }
        recmap_loader_destroy(loader);
    }
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

/* Ways to reach the records: mapped, read, with few shards open at a time; asked for ahead or not.
 * Batches are kept while more come: what they hold must stay. */
static void test_every_access_delivers_the_same(void **state) {
    (void)state;
    enum { KEPT = 20 };
    numbered_write(400, 8);
    recmap_order *order = order_of_kind(0, 400, 5);
    for (int access = 0; access < 3; access++)
        for (unsigned limit = 0; limit < 3; limit++)
            for (int ahead = 0; ahead < 3; ahead++) {
                recmap_dataset_options opened = RECMAP_DATASET_OPTIONS_INIT;
                opened.access = (recmap_access)access;
                opened.shard_limit = limit;
                recmap_dataset *dataset = dataset_open("set.rmx", &opened);
                recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
                options.batch_size = 20;
                options.thread_count = 3;
                options.readahead = (recmap_readahead)ahead;
                recmap_loader *loader = loader_open(dataset, order, &options);
                recmap_batch *kept[KEPT] = {NULL};
                for (int i = 0; i < KEPT; i++) next_batch(&kept[i], loader);
                recmap_loader_destroy(loader);
                uint64_t numbers[20];
                for (uint64_t i = 0; i < KEPT; i++) {
                    assert_int_equal(recmap_order_read(numbers, order, 0, i * 20, 20, NULL), 0);
                    assert_batch(kept[i], numbers, 20);
                    recmap_batch_destroy(kept[i]);
                }
                recmap_dataset_close(dataset);
            }
    recmap_order_release(order);
}

static void assert_invalid(recmap_dataset *dataset, recmap_order *order,
                           const recmap_loader_options *options, const char *due) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader *loader = (recmap_loader *)&error;
    assert_int_equal(recmap_loader_create(&loader, dataset, order, options, &error),
                     RECMAP_INVALID);
    assert_ptr_equal(loader, &error);
    assert_non_null(strstr(error.message, due));
}

/* Each option out of range by itself, with the message that names it. Afterwards the defaults must
 * still work. */
static void test_options_out_of_range_are_refused(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(20, 1, NULL);
    recmap_order *order = order_of_kind(0, 20, 1), *larger = order_of_kind(0, 21, 1);
    const recmap_loader_options good = RECMAP_LOADER_OPTIONS_INIT;
    recmap_loader_options bad = good;
    assert_invalid(dataset, larger, &good, "the order covers 21 records, but the data set has 20");
    bad.version = 9;
    assert_invalid(dataset, order, &bad, "version 9");
    bad = good;
    bad.rank = 1;
    assert_invalid(dataset, order, &bad, "rank 1 is out of range: the world size is 1");
    bad = good;
    bad.world_size = 0;
    assert_invalid(dataset, order, &bad, "rank 0 is out of range: the world size is 0");
    bad = good;
    bad.batch_size = 0;
    assert_invalid(dataset, order, &bad, "at least 1 record");
    bad = good;
    bad.batches_ahead = RECMAP_LOADER_BATCHES_AHEAD_MAX + 1;
    assert_invalid(dataset, order, &bad, "too many");
    bad = good;
    bad.thread_count = RECMAP_LOADER_THREADS_MAX + 1;
    assert_invalid(dataset, order, &bad, "too many");
    bad = good;
    bad.last = (recmap_last)3;
    assert_invalid(dataset, order, &bad, "invalid policy for the last step: 3");
    bad = good;
    bad.on_bad_record = (recmap_on_bad_record)3;
    assert_invalid(dataset, order, &bad, "invalid policy for bad records: 3");
    bad = good;
    bad.readahead = (recmap_readahead)3;
    assert_invalid(dataset, order, &bad, "invalid readahead mode: 3");
    recmap_loader *loader = loader_open(dataset, order, NULL);
    recmap_batch *batch = NULL;
    next_batch(&batch, loader);
    assert_int_equal(recmap_batch_count(batch), 1);
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_loader_destroy(NULL);
    recmap_order_release(order);
    recmap_order_release(larger);
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(every_order_is_delivered),
        TEST(every_number_of_threads),
        TEST(small_epochs_end),
        TEST(the_last_batch_is_smaller),
        TEST(every_access_delivers_the_same),
        TEST(options_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
