/* What goes wrong below a loader: raised at its place, left out or replaced by policy, and gone
 * once the cause is. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "unit/loader/feed/fixture.h"

enum { RECORDS = 120, BATCH = 10 };

static recmap_loader *make(recmap_dataset *dataset, recmap_order *order,
                           recmap_on_bad_record policy) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = BATCH;
    options.thread_count = 3;
    options.on_bad_record = policy;
    return loader_open(dataset, order, &options);
}

static uint64_t number_at(const recmap_order *order, uint64_t epoch, uint64_t position) {
    uint64_t number;
    assert_int_equal(recmap_order_at(&number, order, epoch, &position, 1, NULL), RECMAP_OK);
    return number;
}

/* A bad record at every place of the epoch: earlier batches are delivered, the error is raised at
 * each call, and the state stays before the bad batch. After repair, the stream continues. With all
 * ways of reading. */
static void test_errors_are_raised_before_the_bad_batch(void **unused) {
    (void)unused;
    numbered_write(RECORDS, 3);
    recmap_order *order = order_of_kind(0, RECORDS, 3);
    for (int access = 0; access < 3; access++)
        for (uint64_t bad_at = 0; bad_at < RECORDS; bad_at += 7) {
            recmap_dataset_options opened = RECMAP_DATASET_OPTIONS_INIT;
            opened.access = (recmap_access)access;
            recmap_dataset *dataset = dataset_open("set.rmx", &opened);
            uint64_t bad = number_at(order, 0, bad_at), first = bad_at / BATCH * BATCH;
            numbered_flip(dataset, bad);
            recmap_loader *loader = make(dataset, order, RECMAP_ON_BAD_RECORD_ERROR);
            struct number_list list = {NULL, 0, 0};
            recmap_error error = RECMAP_ERROR_INIT;
            assert_int_equal(take_steps(&list, loader, bad_at / BATCH), bad_at / BATCH);
            recmap_batch *batch, *mine;
            ASSERT_OK(recmap_batch_create(&batch, &error), &error);
            ASSERT_OK(recmap_dataset_read(batch, dataset, bad ? 0 : 1, 1, &error), &error);
            mine = batch;
            for (int i = 0; i < 3; i++) {
                assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_CORRUPT);
                assert_int_equal(error.record, bad);
                assert_true(error.path[0] && error.offset != RECMAP_NO_OFFSET);
                assert_ptr_equal(batch, mine);
                assert_int_equal(recmap_batch_count(batch), 1);
                assert_stands_at(loader, 0, first);
            }
            assert_int_equal(recmap_loader_next(&batch, loader, NULL), RECMAP_CORRUPT);
            numbered_flip(dataset, bad);
            take_steps(&list, loader, SIZE_MAX);
            assert_int_equal(list.count, RECORDS);
            for (uint64_t i = 0; i < RECORDS; i++)
                assert_int_equal(list.numbers[i], number_at(order, 0, i));
            free(list.numbers);
            recmap_batch_destroy(batch);
            recmap_loader_destroy(loader);
            recmap_dataset_close(dataset);
        }
    recmap_order_release(order);
}

/* Returns true if a position's record is bad in the tests of policies: some alone, a run over the
 * end of a batch, the last ones of the epoch. */
static bool is_bad(uint64_t position) {
    return position == 3 || (position >= 28 && position < 33) || position == 55 ||
           position >= RECORDS - 2;
}

static void flip_all(recmap_dataset *dataset, const recmap_order *order) {
    for (uint64_t position = 0; position < RECORDS; position++)
        if (is_bad(position)) numbered_flip(dataset, number_at(order, 0, position));
}

/* The record that stands for one at a bad position. */
static uint64_t substitute_of(const recmap_order *order, uint64_t epoch, uint64_t position,
                              const bool *is_bad) {
    do position = (position + 1) % RECORDS;
    while (is_bad[number_at(order, epoch, position)]);
    return number_at(order, epoch, position);
}

/* Computes from the order alone which records each batch must contain when bad ones are skipped or
 * substituted, and compares batches, counters and the list of skipped records, over two epochs. */
static void iterate_with_policy(recmap_dataset *dataset, recmap_order *order, bool substitutes) {
    recmap_error error = RECMAP_ERROR_INIT;
    bool bad[RECORDS] = {false};
    for (uint64_t i = 0; i < RECORDS; i++) bad[number_at(order, 0, i)] = is_bad(i);
    recmap_loader *loader = make(
        dataset, order, substitutes ? RECMAP_ON_BAD_RECORD_SUBSTITUTE : RECMAP_ON_BAD_RECORD_SKIP);
    recmap_loader_statistics statistics;
    recmap_batch *batch = NULL;
    size_t listed = 0, count;
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
        for (uint64_t first = 0; first < RECORDS; first += BATCH) {
            uint64_t due[BATCH];
            size_t due_count = 0;
            next_batch(&batch, loader);
            for (uint64_t position = first; position < first + BATCH; position++) {
                uint64_t number = number_at(order, epoch, position);
                uint64_t instead = RECMAP_NO_RECORD;
                if (bad[number] && substitutes)
                    instead = substitute_of(order, epoch, position, bad);
                if (!bad[number]) due[due_count++] = number;
                else if (substitutes) due[due_count++] = instead;
                if (!bad[number]) continue;
                recmap_skipped one;
                ASSERT_OK(recmap_loader_get_skipped(&one, 1, &count, loader, listed++, &error),
                          &error);
                assert_int_equal(count, 1);
                assert_true(one.epoch == epoch && one.position == position);
                assert_true(one.number == number && one.substitute == instead);
            }
            assert_batch(batch, due, due_count);
            ASSERT_OK(recmap_loader_get_statistics(&statistics, loader, &error), &error);
            assert_int_equal(statistics.skipped_count, listed);
        }
        assert_stands_at(loader, epoch + 1, 0);
        next_batch(&batch, loader);
        assert_null(batch);
    }
    recmap_skipped all[100];
    ASSERT_OK(recmap_loader_get_skipped(all, 100, &count, loader, 0, &error), &error);
    assert_int_equal(count, listed);
    ASSERT_OK(recmap_loader_get_skipped(all, 100, &count, loader, listed + 5, &error), &error);
    assert_int_equal(count, 0);
    recmap_loader_destroy(loader);
}

static void test_each_policy_gives_its_records(void **unused) {
    (void)unused;
    numbered_write(RECORDS, 3);
    recmap_order *order = order_of_kind(0, RECORDS, 3);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    flip_all(dataset, order);
    iterate_with_policy(dataset, order, false);
    iterate_with_policy(dataset, order, true);
    recmap_dataset_close(dataset);
    recmap_order_release(order);
}

/* A run resumed before, in and after a batch with bad records gives the same batches. */
static void test_policy_and_resume(void **unused) {
    (void)unused;
    numbered_write(RECORDS, 3);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = order_of_kind(0, RECORDS, 3);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    flip_all(dataset, order);
    for (int policy = RECMAP_ON_BAD_RECORD_SKIP; policy <= RECMAP_ON_BAD_RECORD_SUBSTITUTE;
         policy++) {
        struct number_list whole = {NULL, 0, 0}, pieces = {NULL, 0, 0};
        recmap_loader *loader = make(dataset, order, (recmap_on_bad_record)policy);
        take_steps(&whole, loader, SIZE_MAX);
        recmap_loader_destroy(loader);
        recmap_state *state = NULL;
        for (size_t taken = 1; taken;) {
            loader = make(dataset, order, (recmap_on_bad_record)policy);
            if (state) ASSERT_OK(recmap_loader_load(loader, state, &error), &error);
            recmap_state_destroy(state);
            taken = take_steps(&pieces, loader, 1);
            ASSERT_OK(recmap_loader_save(&state, loader, &error), &error);
            recmap_loader_destroy(loader);
            if (recmap_state_get_info(state)->epoch) break;
        }
        recmap_state_destroy(state);
        assert_int_equal(pieces.count, whole.count);
        assert_memory_equal(pieces.numbers, whole.numbers, whole.count * sizeof *whole.numbers);
        free(whole.numbers);
        free(pieces.numbers);
    }
    recmap_dataset_close(dataset);
    recmap_order_release(order);
}

/* Only damaged records are skipped: not a missing shard, and not a replaced one, be it by another
 * file or by a link to another shard. */
static void test_what_is_not_skipped(void **unused) {
    (void)unused;
    for (int policy = RECMAP_ON_BAD_RECORD_ERROR; policy <= RECMAP_ON_BAD_RECORD_SUBSTITUTE;
         policy++)
        for (int way = 0; way < 3; way++) {
            static const recmap_status due[] = {RECMAP_IO, RECMAP_STALE, RECMAP_STALE};
            numbered_write(RECORDS, 3);
            recmap_order *order = order_of_kind(1, RECORDS, 0);
            recmap_dataset *dataset = dataset_open("set.rmx", NULL);
            recmap_shard_info shard;
            recmap_error error = RECMAP_ERROR_INIT;
            ASSERT_OK(recmap_dataset_get_shard(&shard, dataset, 1, &error), &error);
            assert_int_equal(remove(shard.path), 0);
            if (way == 1) file_write(shard.path, "another", 7);
            if (way == 2) assert_int_equal(symlink(shard_names(3)[0], shard.path), 0);
            recmap_loader *loader = make(dataset, order, (recmap_on_bad_record)policy);
            struct number_list list = {NULL, 0, 0};
            size_t whole = (size_t)(shard.first_record / BATCH);
            assert_int_equal(take_steps(&list, loader, whole), whole);
            recmap_batch *batch = NULL;
            for (int i = 0; i < 2; i++) {
                assert_int_equal(recmap_loader_next(&batch, loader, &error), due[way]);
                assert_int_equal(error.record, shard.first_record);
                assert_stands_at(loader, 0, whole * BATCH);
            }
            recmap_loader_statistics statistics;
            ASSERT_OK(recmap_loader_get_statistics(&statistics, loader, &error), &error);
            assert_int_equal(statistics.skipped_count, 0);
            assert_int_equal(statistics.batch_count, whole);
            recmap_loader_destroy(loader);
            remove(shard.path);
            recmap_dataset_close(dataset);
            recmap_order_release(order);
            free(list.numbers);
        }
}

/* A damaged record and one that cannot be read in one batch: the first is skipped, the other is
 * raised all the same, although its shard is open. */
static void test_cut_beside_bad(void **unused) {
    (void)unused;
    numbered_write(RECORDS, 1);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options opened = RECMAP_DATASET_OPTIONS_INIT;
    opened.access = RECMAP_ACCESS_READ;
    recmap_dataset *dataset = dataset_open("set.rmx", &opened);
    recmap_order *order = order_of_kind(1, RECORDS, 0);
    recmap_record record;
    recmap_location last;
    ASSERT_OK(recmap_dataset_get(&record, dataset, 0, &error), &error); /* opens the shard */
    recmap_record_release(&record);
    ASSERT_OK(recmap_dataset_locate(&last, dataset, RECORDS - 1, 1, &error), &error);
    numbered_flip(dataset, RECORDS - 5);
    assert_int_equal(truncate(shard_names(1)[0], (off_t)last.offset), 0);
    for (int policy = RECMAP_ON_BAD_RECORD_SKIP; policy <= RECMAP_ON_BAD_RECORD_SUBSTITUTE;
         policy++) {
        recmap_loader *loader = make(dataset, order, (recmap_on_bad_record)policy);
        ASSERT_OK(recmap_loader_seek(loader, 0, RECORDS - BATCH, &error), &error);
        recmap_batch *batch = NULL;
        assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_IO);
        assert_non_null(strstr(error.advice, "restore the complete file"));
        assert_stands_at(loader, 0, RECORDS - BATCH);
        recmap_loader_destroy(loader);
    }
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

/* All records bad: skipped, batches are empty; with nothing to put in their place, an error. */
static void test_epochs_of_bad_records_end(void **unused) {
    (void)unused;
    enum { FEW = 25 };
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = numbered_open(FEW, 2, NULL);
    recmap_order *order = order_of_kind(0, FEW, 1);
    for (uint64_t number = 0; number < FEW; number++) numbered_flip(dataset, number);
    recmap_loader *loader = make(dataset, order, RECMAP_ON_BAD_RECORD_SKIP);
    recmap_batch *batch = NULL;
    for (int i = 0; i < 3; i++) {
        next_batch(&batch, loader);
        assert_int_equal(recmap_batch_count(batch), 0);
    }
    next_batch(&batch, loader);
    assert_null(batch);
    recmap_loader_destroy(loader);
    loader = make(dataset, order, RECMAP_ON_BAD_RECORD_SUBSTITUTE);
    assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_CORRUPT);
    assert_int_equal(error.record, number_at(order, 0, 0));
    numbered_flip(dataset, 7);
    next_batch(&batch, loader);
    assert_int_equal(recmap_batch_count(batch), BATCH);
    for (size_t i = 0; i < BATCH; i++) assert_int_equal(recmap_batch_records(batch)[i].number, 7);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* The list of skipped records is bounded, their count is not. */
static void test_the_list_of_skipped_records_is_bounded(void **unused) {
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = numbered_open(RECORDS, 2, NULL);
    recmap_order *order = order_of_kind(0, RECORDS, 1);
    for (uint64_t number = 0; number < RECORDS; number++) numbered_flip(dataset, number);
    recmap_loader *loader = make(dataset, order, RECMAP_ON_BAD_RECORD_SKIP);
    recmap_batch *batch = NULL;
    for (int i = 0; i < 13 * 20; i++) next_batch(&batch, loader);
    static recmap_skipped all[RECMAP_LOADER_SKIPPED_MAX + 10];
    size_t count;
    ASSERT_OK(
        recmap_loader_get_skipped(all, RECMAP_LOADER_SKIPPED_MAX + 10, &count, loader, 0, &error),
        &error);
    assert_int_equal(count, RECMAP_LOADER_SKIPPED_MAX);
    recmap_loader_statistics statistics;
    ASSERT_OK(recmap_loader_get_statistics(&statistics, loader, &error), &error);
    assert_int_equal(statistics.skipped_count, RECORDS * 20);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* A batch that would be filled up to more records than fit in any memory is an error at once; from
 * another position the same loader continues. */
static void test_too_large_a_batch(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(RECORDS, 3, NULL);
    recmap_order *order = order_of_kind(0, RECORDS, 3);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = (uint64_t)1 << 62;
    options.last = RECMAP_LAST_PAD;
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_NO_MEMORY);
        assert_stands_at(loader, 0, 0);
    }
    ASSERT_OK(recmap_loader_seek(loader, 5, RECORDS, &error), &error);
    next_batch(&batch, loader);
    assert_null(batch);
    assert_stands_at(loader, 6, 0);
    loader_close(loader, order, dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(errors_are_raised_before_the_bad_batch),
        TEST(each_policy_gives_its_records),
        TEST(policy_and_resume),
        TEST(what_is_not_skipped),
        TEST(cut_beside_bad),
        TEST(epochs_of_bad_records_end),
        TEST(the_list_of_skipped_records_is_bounded),
        TEST(too_large_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
