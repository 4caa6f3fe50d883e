/* The steps of a run: each batch says which one it is, and the order alone says what is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "unit/loader/feed/fixture.h"

/* Asserts that the loader's step has the records of the batch. */
static void assert_step(const recmap_loader *loader, const recmap_batch *batch, uint64_t step,
                        uint32_t rank) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_deal deal;
    recmap_share share;
    uint64_t index;
    assert_int_equal(recmap_batch_step(batch), step);
    ASSERT_OK(recmap_loader_find_step(&deal, &index, loader, step, &error), &error);
    ASSERT_OK(recmap_deal_share(&share, &deal, index, rank, &error), &error);
    uint64_t *numbers = must_realloc(NULL, (share.count + 1) * sizeof *numbers);
    ASSERT_OK(recmap_deal_numbers(numbers, &deal, &share, &error), &error);
    assert_batch(batch, numbers, share.count);
    free(numbers);
}

/* Takes steps over ends of epochs, and checks each. Returns the number of the next one. */
static uint64_t take_checked(recmap_loader *loader, uint64_t first, uint64_t count, uint32_t rank) {
    recmap_batch *batch = NULL;
    for (uint64_t step = first; step < first + count;) {
        next_batch(&batch, loader);
        if (batch) assert_step(loader, batch, step++, rank);
    }
    recmap_batch_destroy(batch);
    return first + count;
}

/* Runs that begin anywhere; stopping, and going back within the run, change no step. */
static void run_anywhere(recmap_loader *loader, uint64_t count, uint32_t rank, struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(
        recmap_loader_seek(loader, rng_below(random, 3), rng_below(random, count + 1), &error),
        &error);
    uint64_t step = take_checked(loader, 0, rng_below(random, 9), rank), epoch, position;
    ASSERT_OK(recmap_loader_tell(&epoch, &position, loader, &error), &error);
    if (rng_one_in(random, 2)) ASSERT_OK(recmap_loader_stop(loader, &error), &error);
    take_checked(loader, step, rng_below(random, 9), rank);
    ASSERT_OK(recmap_loader_return(loader, epoch, position, &error), &error);
    take_checked(loader, step, rng_below(random, 9), rank);
}

static void test_batches_say_their_step(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(200, 4, NULL);
    for (uint64_t seed = 0; seed < 10 * ORDER_KINDS; seed++) {
        struct rng random = {seed};
        size_t n = rng_below(&random, 100) + 40;
        recmap_order *order = order_of_kind((int)(seed % ORDER_KINDS), n, rng_next(&random));
        recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
        options.world_size = (uint32_t)rng_below(&random, 3) + 1;
        options.rank = (uint32_t)rng_below(&random, options.world_size);
        options.batch_size = rng_below(&random, 12) + 1;
        options.last = (recmap_last)rng_below(&random, 3);
        options.thread_count = 2;
        recmap_loader *loader = loader_open(dataset, order, &options);
        take_checked(loader, 0, 3, options.rank);
        for (int runs = 0; runs < 3; runs++)
            run_anywhere(loader, recmap_order_count(order), options.rank, &random);
        recmap_loader_destroy(loader);
        recmap_order_release(order);
    }
    recmap_dataset_close(dataset);
}

/* A position before the beginning of a run begins another one. */
static void test_going_back_before_the_run_begins_another(void **unused) {
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = numbered_open(50, 2, NULL);
    recmap_order *order = order_of_kind(0, 50, 1);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 10;
    recmap_loader *loader = loader_open(dataset, order, &options);
    ASSERT_OK(recmap_loader_seek(loader, 1, 20, &error), &error);
    take_checked(loader, 0, 5, 0);
    ASSERT_OK(recmap_loader_return(loader, 1, 10, &error), &error);
    take_checked(loader, 0, 5, 0);
    loader_close(loader, order, dataset);
}

/* Other batches have no step, also if a loader filled them before. */
static void test_other_batches_have_no_step(void **unused) {
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    const uint64_t numbers[] = {1, 2};
    recmap_dataset *dataset = numbered_open(50, 2, NULL);
    recmap_order *order = order_of_kind(0, 50, 1);
    recmap_loader *loader = loader_open(dataset, order, NULL);
    recmap_batch *batch = NULL;
    next_batch(&batch, loader);
    assert_int_equal(recmap_batch_step(batch), 0);
    ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, 2, &error), &error);
    assert_true(recmap_batch_step(batch) == RECMAP_NO_STEP);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(batches_say_their_step),
        TEST(going_back_before_the_run_begins_another),
        TEST(other_batches_have_no_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
