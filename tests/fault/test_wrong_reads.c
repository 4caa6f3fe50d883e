/* Reads and maps that give another byte than the file has, once or always. What is right the next
 * time counts, whether it is read, indexed or verified. Bytes that differ at every read are an
 * error and never damage, which skipping would lose. Bytes that are the same at every read are
 * damage. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"

enum wrongness { WRONG_ONCE, WRONG_ALWAYS, WRONG_VARIES, WRONGNESS_COUNT };
enum operation { READ_MAPPED, READ_COPIED, LOAD, BUILD, VERIFY, OPERATION_COUNT };
enum { PLACES = 12, BATCH = 16, PAGE = 4096 };

static struct fixture plain, compressed;

/* A byte of a shard that is wrong. */
struct wrong_byte {
    struct stat file;
    uint64_t offset;
    enum wrongness wrongness;
    uint8_t hits;
};

static uint8_t next_change(struct wrong_byte *wrong) {
    wrong->hits++;
    if (wrong->wrongness == WRONG_ONCE) return wrong->hits == 1 ? 0x55 : 0;
    return wrong->wrongness == WRONG_VARIES ? wrong->hits : 0x55;
}

/* Maps the page of the byte privately, and changes it there. */
static void change_map(const struct call *call, uint64_t offset, uint8_t change) {
    uint64_t begin = (offset - call->offset) / PAGE * PAGE;
    uint8_t *page = mmap((uint8_t *)call->data + begin, PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_FIXED, call->fd, (off_t)(call->offset + begin));
    require(page != MAP_FAILED, "map a page privately");
    page[(offset - call->offset) % PAGE] ^= change;
}

static void make_wrong(void *context, const struct call *call) {
    struct wrong_byte *wrong = context;
    struct stat file;
    if (wrong->offset < call->offset || wrong->offset - call->offset >= call->size ||
        fstat(call->fd, &file) || file.st_ino != wrong->file.st_ino)
        return;
    uint8_t change = next_change(wrong);
    if (!change) return;
    if (call->kind == CALL_MAP) change_map(call, wrong->offset, change);
    else ((uint8_t *)call->data)[wrong->offset - call->offset] ^= change;
}

static recmap_status read_all(const struct fixture *data, recmap_access access,
                              const char **problem, recmap_error *error) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset;
    options.access = access;
    recmap_status status = recmap_dataset_open(&dataset, data->index, &options, error);
    if (status != RECMAP_OK) return status;
    const char *wrong = dataset_check_all(dataset, FIXTURE_RECORDS, error);
    status = error->status;
    if (wrong && status == RECMAP_OK) *problem = wrong;
    recmap_dataset_close(dataset);
    return status;
}

/* An epoch that skips bad records must have all of them unless a byte is always wrong. */
static recmap_status load_all(const struct fixture *data, const char **problem,
                              recmap_error *error) {
    recmap_dataset *dataset;
    recmap_order *order;
    recmap_loader *loader = NULL;
    recmap_batch *batch = NULL;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = BATCH;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    options.batches_ahead_epoch_limit = 1;
    recmap_status status = recmap_dataset_open(&dataset, data->index, NULL, error);
    if (status != RECMAP_OK) return status;
    require(recmap_order_shuffled(&order, FIXTURE_RECORDS, 7, NULL) == RECMAP_OK, "order");
    status = recmap_loader_create(&loader, dataset, order, &options, error);
    size_t count = 0;
    while (status == RECMAP_OK) {
        status = recmap_loader_next(&batch, loader, error);
        if (status != RECMAP_OK || !batch) break;
        count += recmap_batch_count(batch);
        for (size_t i = 0; i < recmap_batch_count(batch); i++) {
            const recmap_record *record = &recmap_batch_records(batch)[i];
            if (!payload_holds(record, record->number)) *problem = "a record has wrong bytes";
        }
    }
    if (status == RECMAP_OK && count < FIXTURE_RECORDS) status = RECMAP_CORRUPT;
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return status;
}

/* CORRUPT means that records were skipped. */
static recmap_status build_all(const struct fixture *data, recmap_error *error) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_index_builder *builder;
    recmap_index_summary summary;
    char path[PATH_LIMIT + 8];
    snprintf(path, sizeof path, "%s/new.rmx", data->folder);
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    recmap_status status = recmap_index_builder_create(&builder, path, &options, error);
    for (size_t i = 0; i < FIXTURE_SHARDS && status == RECMAP_OK; i++)
        status = recmap_index_builder_add_shard(builder, data->shards[i], error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(&summary, builder, error);
    recmap_index_builder_destroy(builder);
    unlink(path);
    if (status != RECMAP_OK) return status;
    return summary.damage_count || summary.record_count < FIXTURE_RECORDS ? RECMAP_CORRUPT
                                                                          : RECMAP_OK;
}

/* IO means that the report names the shard whose bytes differ. */
static recmap_status verify_all(const struct fixture *data, recmap_error *error) {
    recmap_dataset *dataset;
    recmap_report *report;
    recmap_status status = recmap_dataset_open(&dataset, data->index, NULL, error);
    if (status != RECMAP_OK) return status;
    status = recmap_dataset_verify(&report, dataset, NULL, error);
    if (status == RECMAP_OK) {
        size_t count = recmap_report_damage_count(report);
        const char *reason = count ? recmap_report_damage(report, 0).reason : "";
        bool differs = strstr(reason, "differs between two reads");
        if (count) status = differs ? RECMAP_IO : RECMAP_CORRUPT;
        snprintf(error->message, sizeof error->message, "%s", reason);
        recmap_report_destroy(report);
    }
    recmap_dataset_close(dataset);
    return status;
}

static recmap_status run(enum operation operation, const struct fixture *data, const char **problem,
                         recmap_error *error) {
    switch (operation) {
    case READ_MAPPED: return read_all(data, RECMAP_ACCESS_MAP, problem, error);
    case READ_COPIED: return read_all(data, RECMAP_ACCESS_READ, problem, error);
    case LOAD: return load_all(data, problem, error);
    case BUILD: return build_all(data, error);
    default: return verify_all(data, error);
    }
}

static const char *judge(enum wrongness wrongness, recmap_status status,
                         const recmap_error *error) {
    if (status == RECMAP_OK) return NULL; /* another read of the same byte was right */
    bool is_expected = wrongness == WRONG_ALWAYS ? status == RECMAP_CORRUPT
                       : wrongness == WRONG_VARIES
                           ? status == RECMAP_IO &&
                                 strstr(error->message, "differs between two reads")
                           : false;
    return is_expected ? NULL : case_says("%s: %s", recmap_status_name(status), error->message);
}

static const char *run_wrong(void *context, size_t number) {
    const struct fixture *data = context;
    uint64_t random = test_seed() + number;
    enum operation operation = (enum operation)(number % OPERATION_COUNT);
    enum wrongness wrongness = (enum wrongness)(number / OPERATION_COUNT % WRONGNESS_COUNT);
    const char *problem = NULL, *path = data->shards[1];
    recmap_error error = RECMAP_ERROR_INIT;
    struct wrong_byte wrong = {.wrongness = wrongness};
    require(!stat(path, &wrong.file), "stat");
    /* Not in the header of a GZIP file: most of its bytes mean nothing. */
    wrong.offset = 10 + choose_below(&random, (uint64_t)wrong.file.st_size - 10);
    struct call_plan plan = {
        .kinds = CALL_BIT(CALL_READ) | CALL_BIT(CALL_MAP), .watch = make_wrong, .context = &wrong};
    interpose_start(&plan);
    recmap_status status = run(operation, data, &problem, &error);
    interpose_stop();
    if (!problem) problem = judge(wrongness, status, &error);
    if (!problem) return NULL;
    char reason[600];
    snprintf(reason, sizeof reason, "%s", problem);
    return case_says("byte %llu, wrong %s, operation %d: %s", (unsigned long long)wrong.offset,
                     wrongness == WRONG_ONCE     ? "once"
                     : wrongness == WRONG_ALWAYS ? "always"
                                                 : "each time in another way",
                     (int)operation, reason);
}

static void test_wrong_reads_are_detected(void **state) {
    (void)state;
    size_t count = (size_t)OPERATION_COUNT * WRONGNESS_COUNT * PLACES * (test_is_long() ? 30 : 1);
    assert_int_equal(cases_run("wrong reads", count, 1, run_wrong, &plain), 0);
}

static void test_compressed(void **state) {
    (void)state;
    size_t count = (size_t)OPERATION_COUNT * WRONGNESS_COUNT * PLACES * (test_is_long() ? 30 : 1);
    assert_int_equal(cases_run("wrong reads of GZIP", count, 1, run_wrong, &compressed), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_reads_are_detected),
        cmocka_unit_test(test_compressed),
    };
    fixture_create(&plain);
    fixture_create_compressed(&compressed);
    /* The indexes of all shards. */
    file_bytes_save(plain.index, plain.new_index.bytes, plain.new_index.size);
    file_bytes_save(compressed.index, compressed.new_index.bytes, compressed.new_index.size);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_destroy(&plain);
    fixture_destroy(&compressed);
    return failed;
}
