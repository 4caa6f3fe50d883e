/* A disk that fails while a loader warms its shards. An error of a read that only warms ends
 * warming, which the statistics say, and no batch fails. A batch that cannot be read is an error
 * that names the file and the byte, and continues once the disk does. No record is ever wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"

enum { BATCH = 7, ERRORS_MAX = 5 };

static struct fixture data;

/* An epoch of a loader that warms, and what came of it. */
struct epoch {
    recmap_access access;
    uint64_t record_count, call_count;
    unsigned error_count;
    recmap_warm_state warmed;
    bool is_warm; /* warming has ended */
};

static const char *check_batch(struct epoch *epoch, const recmap_batch *batch) {
    for (size_t i = 0; i < recmap_batch_count(batch); i++) {
        const recmap_record *record = &recmap_batch_records(batch)[i];
        if (!payload_holds(record, record->number)) return "another record";
    }
    epoch->record_count += recmap_batch_count(batch);
    return NULL;
}

static const char *check_error(struct epoch *epoch, const recmap_error *error) {
    epoch->error_count++;
    if (error->status == RECMAP_IO && error->system_errno == EIO && error->path[0] &&
        error->offset != RECMAP_NO_OFFSET)
        return NULL;
    return case_says("%s, path \"%s\", byte %llu: %s", recmap_status_name(error->status),
                     error->path, (unsigned long long)error->offset, error->message);
}

static recmap_warm_state wait_for_end(recmap_loader *loader) {
    recmap_loader_statistics statistics = {.warm_state = RECMAP_WARM_STATE_RUNNING};
    while (statistics.warm_state == RECMAP_WARM_STATE_RUNNING) {
        usleep(1000);
        if (recmap_loader_get_statistics(&statistics, loader, NULL) != RECMAP_OK) break;
    }
    return statistics.warm_state;
}

/* Takes batches to the end of the epoch, or until errors show that the disk failed for good. At the
 * first one, waits for the end of warming, which the end of the epoch would stop. */
static const char *take_batches(struct epoch *epoch, recmap_loader *loader) {
    recmap_batch *batch = NULL;
    const char *wrong = NULL;
    bool is_over = false;
    while (!wrong && !is_over && epoch->error_count < ERRORS_MAX) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_loader_next(&batch, loader, &error);
        is_over = status == RECMAP_OK && !batch;
        if (status != RECMAP_OK) wrong = check_error(epoch, &error);
        else if (batch) wrong = check_batch(epoch, batch);
        if (status == RECMAP_OK && !epoch->is_warm) epoch->warmed = wait_for_end(loader);
        epoch->is_warm |= status == RECMAP_OK;
    }
    recmap_batch_destroy(batch);
    return wrong;
}

/* Opens the data set, and reads all records once: mapped shards then need no more calls. */
static recmap_dataset *open_set(const struct epoch *epoch) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset;
    options.access = epoch->access;
    require(recmap_dataset_open(&dataset, data.index, &options, NULL) == RECMAP_OK, "open");
    require(!dataset_check_all(dataset, FIXTURE_RECORDS, NULL), "records");
    return dataset;
}

static const char *run_epoch(struct epoch *epoch, const struct call_plan *plan) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_order *order;
    recmap_loader *loader;
    recmap_dataset *dataset = open_set(epoch);
    options.batch_size = BATCH;
    options.thread_count = 2;
    options.batches_ahead_epoch_limit = 1; /* batches of later epochs would hide errors */
    options.warm = RECMAP_WARM_ON;
    require(recmap_order_shuffled(&order, FIXTURE_RECORDS, 5, NULL) == RECMAP_OK, "order");
    require(recmap_loader_create(&loader, dataset, order, &options, NULL) == RECMAP_OK, "loader");
    interpose_start(plan);
    const char *wrong = take_batches(epoch, loader);
    epoch->call_count = interpose_stop();
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return wrong;
}

/* Of mapped shards, only warming makes calls. */
static const char *check_mapped(const struct epoch *epoch) {
    if (epoch->error_count) return "a batch failed";
    if (epoch->record_count != FIXTURE_RECORDS) return "records are missing";
    return epoch->warmed == RECMAP_WARM_STATE_FAILED ? NULL : "warming did not fail";
}

/* A batch that cannot be read is read once more, record by record, so one call that fails is not
 * an error of a batch. All calls from one on are, or they are those of warming. */
static const char *check_read(const struct epoch *epoch, bool is_sticky) {
    bool has_failed = epoch->warmed == RECMAP_WARM_STATE_FAILED;
    if (is_sticky) return has_failed || epoch->error_count ? NULL : "nothing failed";
    if (epoch->record_count != FIXTURE_RECORDS) return "records are missing";
    return epoch->error_count ? "a batch failed" : NULL;
}

static const char *run_case(void *context, size_t number) {
    const recmap_access *access = context;
    struct epoch epoch = {.access = *access};
    bool is_sticky = number % 2;
    struct call_plan plan = {.kinds = CALL_BIT(CALL_READ),
                             .at = number / 2 + 1,
                             .is_sticky = is_sticky,
                             .fault = FAULT_ERRNO,
                             .code = EIO};
    const char *wrong = run_epoch(&epoch, &plan);
    if (wrong || !interpose_hits()) return wrong;
    return *access == RECMAP_ACCESS_MAP ? check_mapped(&epoch) : check_read(&epoch, is_sticky);
}

static void run_cases(const char *name, recmap_access access) {
    struct epoch epoch = {.access = access};
    struct call_plan plan = {.kinds = CALL_BIT(CALL_READ)};
    require(!run_epoch(&epoch, &plan), "the epoch without faults");
    assert_int_equal(epoch.warmed, RECMAP_WARM_STATE_COMPLETE);
    assert_int_equal(epoch.error_count, 0);
    assert_true(epoch.call_count > 0);
    assert_int_equal(
        cases_run(name, 2 * epoch.call_count, test_is_long() ? 1 : 3, run_case, &access), 0);
}

static void test_reads_that_fail_end_only_warming(void **state) {
    (void)state;
    run_cases("warming, map", RECMAP_ACCESS_MAP);
}

static void test_a_disk_that_fails_for_good_is_an_error(void **state) {
    (void)state;
    run_cases("warming, pread", RECMAP_ACCESS_READ);
}

static int enter(void **state) {
    (void)state;
    fixture_create(&data);
    return fixture_rebuild(&data, 1, NULL) != RECMAP_OK;
}

static int leave(void **state) {
    (void)state;
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_that_fail_end_only_warming),
        cmocka_unit_test(test_a_disk_that_fails_for_good_is_an_error),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
