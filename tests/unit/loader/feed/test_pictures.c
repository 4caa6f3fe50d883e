/* Batches of pictures, which several threads fill in parts: they are the same as those that one
 * thread fills, with bad records too, after a move, and whenever the loader ends. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <recmap/image.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/rounds.h"
#include "support/shards/features.h"
#include "unit/loader/feed/fixture.h"
#include "unit/parse/image/picture_file.h"

enum { RECORDS = 300, SIDE = 16 };

static const char *const names[] = {"plain-420.jpg", "rgb.png", "turned-6.jpg", "lossy.webp",
                                    "progressive.jpg"};
enum { NAMES = sizeof names / sizeof *names };

/* A picture that is cut off: not the first record of a part only, and two in a row. */
static bool is_cut(uint64_t number) {
    return number % 23 == 5 || number % 64 == 17 || number % 64 == 18;
}

static bool lacks_label(uint64_t number) {
    return number % 71 == 7;
}

static void add_record(struct buffer *shard, const struct picture_file *pictures, uint64_t number,
                       bool has_bad) {
    struct buffer features = BUFFER_INIT, record = BUFFER_INIT;
    const struct picture_file *picture = &pictures[number % NAMES];
    size_t size = has_bad && is_cut(number) ? picture->size / 3 : picture->size;
    features_add_bytes(&features, "image", picture->data, size);
    if (!has_bad || !lacks_label(number)) features_add_int64(&features, "label", (int64_t)number);
    if (number % 3) features_add_pair(&features, "pair");
    features_end(&record, &features);
    recmap_frame frame = recmap_frame_of(record.data, record.size);
    buffer_add(shard, frame.header, sizeof frame.header);
    buffer_add(shard, record.data, record.size);
    buffer_add(shard, frame.footer, sizeof frame.footer);
    buffer_deinit(&features);
    buffer_deinit(&record);
}

/* With bad records: some are cut off, some lack a feature, and two are damaged. */
static recmap_dataset *open_pictures(bool has_bad) {
    struct buffer shard = BUFFER_INIT;
    struct picture_file pictures[NAMES];
    for (size_t i = 0; i < NAMES; i++) pictures[i] = picture_load(names[i]);
    for (uint64_t number = 0; number < RECORDS; number++)
        add_record(&shard, pictures, number, has_bad);
    index_bytes("set.rmx", NULL, "shard", &shard);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    if (has_bad) numbered_flip(dataset, 40);
    if (has_bad) numbered_flip(dataset, 211);
    buffer_deinit(&shard);
    for (size_t i = 0; i < NAMES; i++) picture_deinit(&pictures[i]);
    return dataset;
}

static recmap_parser *make_parser(void) {
    static const recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                                       .height = SIDE,
                                       .width = SIDE,
                                       .mode = RECMAP_IMAGE_RGB,
                                       .crop = RECMAP_CROP_RANDOM_RESIZED,
                                       .flip = 0.5};
    static const recmap_feature features[] = {
        {.name = "image",
         .kind = RECMAP_FEATURE_IMAGE,
         .element = RECMAP_ELEMENT_UINT8,
         .image = &image},
        {.name = "label", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64},
        {.name = "pair", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT64}};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser;
    ASSERT_OK(recmap_parser_create(&parser, features, 3, &error), &error);
    return parser;
}

static recmap_loader_options options_of(unsigned threads, uint64_t batch_size,
                                        recmap_on_bad_record policy) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.thread_count = threads;
    options.batch_size = batch_size;
    options.on_bad_record = policy;
    options.batches_ahead = 3;
    options.draw_seed = 9;
    return options;
}

static recmap_loader *open_loader(recmap_dataset *dataset, recmap_order *order,
                                  recmap_loader_options options) {
    options.parser = make_parser();
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_parser_release(options.parser);
    return loader;
}

/* ---- What a loader gives, as bytes. */

static void add_column(struct buffer *said, const recmap_column *column) {
    uint64_t values = column->value_count;
    buffer_add(said, &values, sizeof values);
    buffer_add(said, column->values, (size_t)values * recmap_element_size(column->element));
    buffer_add(said, &column->null_count, sizeof column->null_count);
    if (column->offsets_count)
        buffer_add(said, column->offsets[0], (column->row_count + 1) * sizeof **column->offsets);
    for (uint64_t row = 0; column->validity && row < column->row_count; row++)
        buffer_add(said, column->validity[row / 8] >> row % 8 & 1 ? "1" : "0", 1);
}

static void add_batch(struct buffer *said, const recmap_batch *batch) {
    const recmap_columns *columns = recmap_batch_columns(batch);
    const size_t count = recmap_batch_count(batch);
    assert_non_null(columns);
    assert_int_equal(recmap_columns_row_count(columns), count);
    assert_int_equal(recmap_columns_failure_count(columns), 0);
    for (size_t i = 0; i < count; i++) {
        const recmap_record *record = &recmap_batch_records(batch)[i];
        buffer_add(said, &record->number, sizeof record->number);
        buffer_add(said, record->data, record->size);
    }
    buffer_add(said, recmap_batch_positions(batch), count * sizeof(uint64_t));
    for (size_t i = 0; i < recmap_columns_count(columns); i++)
        add_column(said, recmap_columns_get(columns, i));
}

static void add_error(struct buffer *said, const recmap_error *error) {
    buffer_add(said, &error->status, sizeof error->status);
    buffer_add(said, &error->record, sizeof error->record);
    buffer_add(said, &error->offset, sizeof error->offset);
    buffer_add(said, error->message, strlen(error->message));
    buffer_add(said, error->advice, strlen(error->advice));
}

static void add_skipped(struct buffer *said, recmap_loader *loader) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_skipped skipped[4 * RECORDS];
    recmap_loader_statistics statistics;
    size_t count;
    ASSERT_OK(recmap_loader_get_skipped(skipped, 4 * RECORDS, &count, loader, 0, &error), &error);
    buffer_add(said, skipped, count * sizeof *skipped);
    ASSERT_OK(recmap_loader_get_statistics(&statistics, loader, &error), &error);
    buffer_add(said, &statistics.skipped_count, sizeof statistics.skipped_count);
    buffer_add(said, &statistics.record_count, sizeof statistics.record_count);
    buffer_add(said, &statistics.byte_count, sizeof statistics.byte_count);
    assert_true(statistics.decoded_count >= statistics.record_count);
    assert_true(statistics.decode_ns <= statistics.parse_ns);
    assert_true(statistics.parse_ns <= statistics.fill_ns);
}

/* Everything in an epoch. After a bad record the loader is moved past its batch. */
static struct buffer say_epoch(recmap_dataset *dataset, recmap_order *order,
                               const recmap_loader_options *options) {
    struct buffer said = BUFFER_INIT;
    recmap_loader *loader = open_loader(dataset, order, *options);
    recmap_batch *batch = NULL;
    do {
        recmap_error error = RECMAP_ERROR_INIT;
        uint64_t epoch, position;
        recmap_status status = recmap_loader_next(&batch, loader, &error);
        ASSERT_OK(recmap_loader_tell(&epoch, &position, loader, &error), &error);
        if (status == RECMAP_OK && batch) add_batch(&said, batch);
        if (status == RECMAP_OK) continue;
        add_error(&said, &error);
        position += options->batch_size;
        if (position > recmap_order_count(order)) position = recmap_order_count(order);
        ASSERT_OK(recmap_loader_seek(loader, epoch, position, &error), &error);
        if (!batch) ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    } while (batch);
    add_skipped(&said, loader);
    recmap_loader_destroy(loader);
    return said;
}

static void assert_same(const struct buffer *said, const struct buffer *due) {
    assert_int_equal(said->size, due->size);
    assert_memory_equal(said->data, due->data, due->size);
}

static void check_threads(recmap_dataset *dataset, int order_kind, uint64_t batch_size,
                          recmap_on_bad_record policy) {
    recmap_order *order = order_of_kind(order_kind, RECORDS, 4);
    recmap_loader_options options = options_of(1, batch_size, policy);
    struct buffer due = say_epoch(dataset, order, &options);
    for (options.thread_count = 2; options.thread_count <= 5;
         options.thread_count += is_short() ? 3 : 1) {
        struct buffer said = say_epoch(dataset, order, &options);
        assert_same(&said, &due);
        buffer_deinit(&said);
    }
    buffer_deinit(&due);
    recmap_order_release(order);
}

/* Also an order that repeats records, so that draws depend on positions. */
static void check_epochs(bool has_bad, recmap_on_bad_record policy) {
    recmap_dataset *dataset = open_pictures(has_bad);
    if (!is_short()) check_threads(dataset, 0, 1, policy); /* such batches have no parts */
    check_threads(dataset, 0, 7, policy);
    check_threads(dataset, 0, 256, policy);
    check_threads(dataset, 3, 50, policy);
    recmap_dataset_close(dataset);
}

static void test_good_pictures(void **unused) {
    (void)unused;
    check_epochs(false, RECMAP_ON_BAD_RECORD_ERROR);
    check_epochs(false, RECMAP_ON_BAD_RECORD_SKIP);
}

static void test_the_first_error_by_position_is_raised(void **unused) {
    (void)unused;
    check_epochs(true, RECMAP_ON_BAD_RECORD_ERROR);
}

static void test_bad_pictures_are_left_out(void **unused) {
    (void)unused;
    check_epochs(true, RECMAP_ON_BAD_RECORD_SKIP);
}

static void test_bad_pictures_are_replaced(void **unused) {
    (void)unused;
    check_epochs(true, RECMAP_ON_BAD_RECORD_SUBSTITUTE);
}

/* ---- Moves and ends. */

static void assert_labels(const recmap_batch *batch, const recmap_order *order, uint64_t epoch,
                          uint64_t position) {
    const recmap_column *label = recmap_columns_find(recmap_batch_columns(batch), "label");
    for (size_t i = 0; i < recmap_batch_count(batch); i++) {
        uint64_t number;
        assert_int_equal(recmap_order_read(&number, order, epoch, position + i, 1, NULL),
                         RECMAP_OK);
        assert_int_equal(((const int64_t *)label->values)[i], number);
    }
}

/* Parts of batches for a place that the loader has left do no harm. */
static void test_moves_among_parts(void **unused) {
    (void)unused;
    recmap_dataset *dataset = open_pictures(false);
    recmap_order *order = order_of_kind(0, RECORDS, 4);
    recmap_loader *loader =
        open_loader(dataset, order, options_of(4, 40, RECMAP_ON_BAD_RECORD_ERROR));
    recmap_batch *batch = NULL;
    struct rng random = {5};
    for (unsigned i = 0; i < some_rounds(60); i++) {
        uint64_t position = rng_below(&random, RECORDS - 100), epoch = rng_below(&random, 9);
        if (i % 10 == 9) assert_int_equal(recmap_loader_stop(loader, NULL), RECMAP_OK);
        assert_int_equal(recmap_loader_seek(loader, epoch, position, NULL), RECMAP_OK);
        if (i % 4 == 0) usleep((unsigned)rng_below(&random, 3000));
        for (uint64_t steps = rng_below(&random, 3); steps; steps--, position += 40) {
            next_batch(&batch, loader);
            assert_labels(batch, order, epoch, position);
        }
    }
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

static void test_loaders_end_among_parts(void **unused) {
    (void)unused;
    recmap_dataset *dataset = open_pictures(true);
    recmap_order *order = order_of_kind(0, RECORDS, 4);
    for (unsigned i = 0; i < some_rounds(40); i++) {
        recmap_loader *loader =
            open_loader(dataset, order, options_of(4, 100, RECMAP_ON_BAD_RECORD_SKIP));
        recmap_batch *batch = NULL;
        int is_ready;
        if (i % 4) next_batch(&batch, loader);
        else assert_int_equal(recmap_loader_wait(&is_ready, loader, 0, NULL), RECMAP_OK);
        usleep(i * 100);
        recmap_loader_destroy(loader);
        if (batch)
            assert_int_equal(recmap_columns_row_count(recmap_batch_columns(batch)),
                             recmap_batch_count(batch));
        recmap_batch_destroy(batch);
    }
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

/* ---- Memory. */

struct counted {
    atomic_size_t held, allocated;
    size_t failing; /* this allocation fails; 0: none */
};

static void *count_allocate(size_t size, void *context) {
    struct counted *counted = context;
    void *data = NULL;
    if (++counted->allocated == counted->failing || posix_memalign(&data, 64, size)) return NULL;
    counted->held++;
    return data;
}

static void count_release(void *memory, size_t size, void *context) {
    struct counted *counted = context;
    (void)size;
    counted->held--;
    free(memory);
}

/* With memory of the caller, which may run out: then the batch is an error, and the next call tries
 * again.
 */
static void test_memory_of_the_caller(void **unused) {
    (void)unused;
    recmap_dataset *dataset = open_pictures(true);
    recmap_order *order = order_of_kind(0, RECORDS, 4);
    recmap_loader_options options = options_of(1, 100, RECMAP_ON_BAD_RECORD_SKIP);
    struct buffer due = say_epoch(dataset, order, &options);
    struct counted counted = {.failing = 0};
    options.thread_count = 3;
    options.allocator = (recmap_allocator){count_allocate, count_release, &counted};
    struct buffer said = say_epoch(dataset, order, &options);
    assert_same(&said, &due);
    assert_true(counted.allocated > 0);
    assert_int_equal(counted.held, 0);
    for (size_t i = 1; i < 8; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_batch *batch = NULL;
        counted.allocated = 0;
        counted.failing = i;
        recmap_loader *loader = open_loader(dataset, order, options);
        int failed_count = 0;
        for (uint64_t step = 0; step < 3;) {
            recmap_status status = recmap_loader_next(&batch, loader, &error);
            assert_true(status == RECMAP_OK || (status == RECMAP_NO_MEMORY && !failed_count));
            if (status == RECMAP_OK) step++;
            else failed_count++;
        }
        recmap_batch_destroy(batch);
        recmap_loader_destroy(loader);
        assert_int_equal(counted.held, 0);
    }
    buffer_deinit(&said);
    buffer_deinit(&due);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(good_pictures),
        TEST(the_first_error_by_position_is_raised),
        TEST(bad_pictures_are_left_out),
        TEST(bad_pictures_are_replaced),
        TEST(moves_among_parts),
        TEST(loaders_end_among_parts),
        TEST(memory_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
