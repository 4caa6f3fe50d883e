/* Columns in memory of the caller's allocator: all that exports show is there, and every piece is
 * released once, when neither columns nor exports use it any more. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/dlpack.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/features.h"
#include "unit/loader/feed/fixture.h"

enum { RECORDS = 100, BATCH = 8, PIECES = 4096 };

/* Every piece of memory that was allocated and not released. */
struct ledger {
    recmap_allocator allocator;
    pthread_mutex_t lock;
    struct piece {
        uint8_t *data;
        size_t size;
    } pieces[PIECES];
    size_t count, allocated_count;
    size_t failing; /* this allocation and later ones fail; 0: none */
    bool is_wrong;  /* something was released that was not allocated, or with another size */
};

static void *ledger_allocate(size_t size, void *context) {
    struct ledger *ledger = context;
    void *data = NULL;
    pthread_mutex_lock(&ledger->lock);
    bool fails = ledger->failing && ledger->allocated_count + 1 >= ledger->failing;
    if (!fails && ledger->count < PIECES && posix_memalign(&data, 64, size) == 0) {
        ledger->allocated_count++;
        ledger->pieces[ledger->count++] = (struct piece){data, size};
    }
    pthread_mutex_unlock(&ledger->lock);
    return data;
}

static void ledger_release(void *memory, size_t size, void *context) {
    struct ledger *ledger = context;
    size_t i = 0;
    pthread_mutex_lock(&ledger->lock);
    while (i < ledger->count && ledger->pieces[i].data != memory) i++;
    if (i == ledger->count || ledger->pieces[i].size != size) {
        ledger->is_wrong = true;
    } else {
        ledger->pieces[i] = ledger->pieces[--ledger->count];
        free(memory);
    }
    pthread_mutex_unlock(&ledger->lock);
}

static void ledger_init(struct ledger *ledger) {
    *ledger = (struct ledger){.count = 0};
    ledger->allocator = (recmap_allocator){ledger_allocate, ledger_release, ledger};
    pthread_mutex_init(&ledger->lock, NULL);
}

static void ledger_check_empty(struct ledger *ledger) {
    assert_false(ledger->is_wrong);
    assert_int_equal(ledger->count, 0);
    pthread_mutex_destroy(&ledger->lock);
}

static bool ledger_has(struct ledger *ledger, const void *data, size_t size) {
    const uint8_t *bytes = data;
    bool is_inside = false;
    pthread_mutex_lock(&ledger->lock);
    for (size_t i = 0; i < ledger->count; i++) {
        const struct piece *piece = &ledger->pieces[i];
        is_inside |= bytes >= piece->data && bytes + size <= piece->data + piece->size;
    }
    pthread_mutex_unlock(&ledger->lock);
    return is_inside;
}

/* ---- A data set: record i has label i, i + 1 bytes of text, and a pair of numbers. */

static void write_set(uint64_t on_bad_record) {
    struct buffer shard = BUFFER_INIT;
    char text[RECORDS + 1];
    memset(text, 't', sizeof text);
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct buffer features = BUFFER_INIT, record = BUFFER_INIT;
        features_add_bytes(&features, "text", text, i + 1);
        features_add_pair(&features, "pair");
        if (i != on_bad_record) features_add_int64(&features, "label", (int64_t)i);
        features_end(&record, &features);
        recmap_frame frame = recmap_frame_of(record.data, record.size);
        buffer_add(&shard, frame.header, sizeof frame.header);
        buffer_add(&shard, record.data, record.size);
        buffer_add(&shard, frame.footer, sizeof frame.footer);
        buffer_deinit(&features);
        buffer_deinit(&record);
    }
    index_bytes("set.rmx", NULL, "shard", &shard);
    buffer_deinit(&shard);
}

static recmap_parser *make_parser(void) {
    const recmap_feature features[] = {
        {.name = "label", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64},
        {.name = "pair", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT32},
        {.name = "padded",
         .key = "pair",
         .kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE,
         .element = RECMAP_ELEMENT_INT64},
        {.name = "text",
         .kind = RECMAP_FEATURE_VAR_LEN,
         .element = RECMAP_ELEMENT_BYTES,
         .bytes_mode = RECMAP_BYTES_COPY},
        {.name = "views",
         .key = "text",
         .kind = RECMAP_FEATURE_VAR_LEN,
         .element = RECMAP_ELEMENT_BYTES}};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser;
    ASSERT_OK(recmap_parser_create(&parser, features, 5, &error), &error);
    return parser;
}

static recmap_loader *make_loader(recmap_dataset *dataset, recmap_order *order,
                                  struct ledger *ledger) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = BATCH;
    options.thread_count = 2;
    options.parser = make_parser();
    if (ledger) options.allocator = ledger->allocator;
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_parser_release(options.parser);
    return loader;
}

static void assert_inside(struct ledger *ledger, const recmap_batch *batch) {
    recmap_columns *columns = recmap_batch_columns(batch);
    uint64_t rows = recmap_batch_count(batch);
    for (size_t i = 0; i < recmap_columns_count(columns); i++) {
        const recmap_column *column = recmap_columns_get(columns, i);
        size_t size = column->element == RECMAP_ELEMENT_BYTES
                          ? 1
                          : column->value_count * recmap_element_size(column->element);
        assert_int_equal(ledger_has(ledger, column->values, size), !column->views);
        if (column->offsets_count)
            assert_true(ledger_has(ledger, column->offsets[0], (rows + 1) * sizeof(int64_t)));
        if (column->lengths)
            assert_true(ledger_has(ledger, column->lengths, rows * sizeof(int64_t)));
        if (column->bytes_offsets)
            assert_true(ledger_has(ledger, column->bytes_offsets, (rows + 1) * sizeof(int64_t)));
    }
    const recmap_column *label = recmap_columns_find(columns, "label");
    for (uint64_t i = 0; i < rows; i++)
        assert_int_equal(((const int64_t *)label->values)[i],
                         recmap_batch_records(batch)[i].number);
}

static void test_columns_are_inside(void **unused) {
    (void)unused;
    struct ledger ledger;
    ledger_init(&ledger);
    write_set(RECORDS);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_order *order = order_of_kind(0, RECORDS, 5);
    recmap_loader *loader = make_loader(dataset, order, &ledger);
    recmap_batch *batch = NULL;
    size_t seen = 0;
    for (int epoch = 0; epoch < 3; epoch++)
        for (next_batch(&batch, loader); batch; next_batch(&batch, loader)) {
            assert_inside(&ledger, batch);
            seen += recmap_batch_count(batch);
        }
    assert_int_equal(seen, 3 * RECORDS);
    loader_close(loader, order, dataset);
    ledger_check_empty(&ledger);
}

/* The batch outlives the loader, and a tensor outlives both. */
static void test_exports_keep_memory(void **unused) {
    (void)unused;
    struct ledger ledger;
    ledger_init(&ledger);
    write_set(RECORDS);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_order *order = order_of_kind(0, RECORDS, 5);
    recmap_loader *loader = make_loader(dataset, order, &ledger);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch = NULL;
    DLManagedTensor *tensor;
    next_batch(&batch, loader);
    recmap_loader_destroy(loader);
    assert_inside(&ledger, batch);
    size_t count = ledger.count;
    ASSERT_OK(recmap_columns_export_dlpack(&tensor, recmap_batch_columns(batch), 0,
                                           RECMAP_TENSOR_VALUES, 0, &error),
              &error);
    recmap_batch_destroy(batch);
    assert_int_equal(ledger.count, count);
    assert_true(ledger_has(&ledger, tensor->dl_tensor.data, BATCH * sizeof(int64_t)));
    tensor->deleter(tensor);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    ledger_check_empty(&ledger);
}

/* A batch that is cleared, or filled by something else, has no such memory any more. */
static void test_clearing_releases(void **unused) {
    (void)unused;
    struct ledger ledger;
    ledger_init(&ledger);
    write_set(RECORDS);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_order *order = order_of_kind(0, RECORDS, 5);
    recmap_loader *loader = make_loader(dataset, order, &ledger);
    recmap_parser *parser = make_parser();
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *cleared = NULL, *parsed = NULL;
    const uint64_t number = 7;
    next_batch(&cleared, loader);
    next_batch(&parsed, loader);
    recmap_loader_destroy(loader);
    recmap_batch_clear(cleared);
    assert_null(recmap_batch_columns(cleared));
    assert_true(ledger.count > 0);
    ASSERT_OK(recmap_dataset_parse(parsed, dataset, parser, &number, 1, RECMAP_PARSE_RAISE, &error),
              &error);
    assert_int_equal(ledger.count, 0);
    assert_int_equal(recmap_columns_row_count(recmap_batch_columns(parsed)), 1);
    recmap_batch_destroy(cleared);
    recmap_batch_destroy(parsed);
    recmap_parser_release(parser);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    ledger_check_empty(&ledger);
}

/* A batch given to another loader gets the memory of that loader. */
static void test_loaders_exchange_batches(void **unused) {
    (void)unused;
    struct ledger ledgers[2];
    write_set(RECORDS);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_order *order = order_of_kind(0, RECORDS, 5);
    recmap_loader *loaders[3];
    for (size_t i = 0; i < 3; i++) {
        if (i < 2) ledger_init(&ledgers[i]);
        loaders[i] = make_loader(dataset, order, i < 2 ? &ledgers[i] : NULL);
    }
    recmap_batch *batch = NULL;
    for (size_t i = 0; i < 60; i++) {
        next_batch(&batch, loaders[i % 3]);
        if (batch && i % 3 < 2) assert_inside(&ledgers[i % 3], batch);
    }
    recmap_batch_destroy(batch);
    for (size_t i = 0; i < 3; i++) recmap_loader_destroy(loaders[i]);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    for (size_t i = 0; i < 2; i++) ledger_check_empty(&ledgers[i]);
}

/* A bad record, a stop or a move: what was filled ahead is released. */
static void test_discarded_batches_are_released(void **unused) {
    (void)unused;
    enum { BAD = 41 };
    struct ledger ledger;
    ledger_init(&ledger);
    write_set(BAD);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_order *order = order_of_kind(0, RECORDS, 5);
    recmap_loader *loader = make_loader(dataset, order, &ledger);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch = NULL;
    recmap_status status = RECMAP_OK;
    while (status == RECMAP_OK) status = recmap_loader_next(&batch, loader, &error);
    assert_int_equal(status, RECMAP_FEATURE);
    ASSERT_OK(recmap_loader_seek(loader, 1, 8, &error), &error);
    next_batch(&batch, loader);
    assert_inside(&ledger, batch);
    ASSERT_OK(recmap_loader_stop(loader, &error), &error);
    next_batch(&batch, loader);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
    ledger_check_empty(&ledger);
}

static void test_failed_allocations_are_reported(void **unused) {
    (void)unused;
    write_set(RECORDS);
    for (size_t failing = 1; failing < 40; failing++) {
        struct ledger ledger;
        ledger_init(&ledger);
        ledger.failing = failing;
        recmap_dataset *dataset = dataset_open("set.rmx", NULL);
        recmap_order *order = order_of_kind(0, RECORDS, 5);
        recmap_loader *loader = make_loader(dataset, order, &ledger);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_batch *batch = NULL;
        recmap_status status = RECMAP_OK;
        for (size_t i = 0; i < RECORDS && status == RECMAP_OK; i++)
            status = recmap_loader_next(&batch, loader, &error);
        assert_int_equal(status, RECMAP_NO_MEMORY);
        recmap_batch_destroy(batch);
        loader_close(loader, order, dataset);
        ledger_check_empty(&ledger);
    }
}

static void test_half_an_allocator(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(10, 1, NULL);
    recmap_order *order = order_of_kind(0, 10, 5);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader *loader = NULL;
    options.allocator.allocate = ledger_allocate;
    assert_int_equal(recmap_loader_create(&loader, dataset, order, &options, &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message, "an allocator needs both allocate and release");
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(columns_are_inside),
        TEST(exports_keep_memory),
        TEST(clearing_releases),
        TEST(loaders_exchange_batches),
        TEST(discarded_batches_are_released),
        TEST(failed_allocations_are_reported),
        TEST(half_an_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
