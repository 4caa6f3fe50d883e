/* Pictures of rows: pixels and draws against single decoding, sharing, and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/batch/batch.h"
#include "loader/slices/picture_table.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "unit/parse/columns/picture_batch.h"
#include "unit/parse/image/picture_file.h"

#include <cmocka.h>

enum { SIDE = 8, PICTURE_SIZE = SIDE * SIDE * 3, WIDTH = 4 };

static const char *const frames[] = {"plain-444.jpg", "rgb.png", "plain-420.jpg", "gray.jpg",
                                     "progressive.jpg"};
enum { FRAMES = sizeof frames / sizeof *frames };

static const recmap_image whole = {.version = RECMAP_IMAGE_VERSION, .height = SIDE, .width = SIDE};
static const recmap_image cropped = {.version = RECMAP_IMAGE_VERSION,
                                     .height = SIDE,
                                     .width = SIDE,
                                     .crop = RECMAP_CROP_RANDOM_RESIZED,
                                     .flip = 0.5};

/* Changes the first bytes of a picture in a record. */
static void damage(const recmap_record *record, const char *name) {
    struct picture_file file = picture_load(name);
    uint8_t *bytes = (uint8_t *)(uintptr_t)record->data;
    size_t at = 0;
    while (memcmp(bytes + at, file.data, file.size) != 0) {
        at++;
        assert_true(at + file.size <= record->size);
    }
    memset(bytes + at, 'x', 16);
    picture_deinit(&file);
}

/* Two episodes of the same frames. In the second, frame `damaged` is not a picture. */
static recmap_dataset *make_set(size_t damaged) {
    struct picture_batch batch = {.count = 0};
    struct buffer shard = BUFFER_INIT;
    struct picture_record record = {.number_count = 0};
    memcpy(record.pictures, frames, sizeof frames);
    for (int episode = 0; episode < 2; episode++) picture_batch_add(&batch, &record, false);
    if (damaged < FRAMES) damage(&batch.records[1], frames[damaged]);
    for (size_t i = 0; i < batch.count; i++) {
        recmap_frame frame = recmap_frame_of(batch.records[i].data, batch.records[i].size);
        buffer_add(&shard, frame.header, sizeof frame.header);
        buffer_add(&shard, batch.records[i].data, batch.records[i].size);
        buffer_add(&shard, frame.footer, sizeof frame.footer);
    }
    index_bytes("set.rmx", NULL, "shard", &shard);
    buffer_deinit(&shard);
    picture_batch_deinit(&batch);
    return dataset_open("set.rmx", NULL);
}

static recmap_order *make_windows(void) {
    const uint64_t values[2] = {FRAMES, FRAMES};
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    recmap_counts *counts;
    recmap_order *order;
    ASSERT_OK(recmap_counts_create(&counts, values, sizeof *values, 2, NULL), NULL);
    options.size = WIDTH;
    options.pad_before = options.pad_after = 2;
    ASSERT_OK(recmap_order_windows(&order, counts, &options, NULL), NULL);
    recmap_counts_release(counts);
    return order;
}

static recmap_feature feature_of(const recmap_image *image) {
    return (recmap_feature){.name = "image",
                            .kind = RECMAP_FEATURE_SLICED,
                            .element = RECMAP_ELEMENT_UINT8,
                            .image = image};
}

/* All rows of an epoch in one batch. */
struct episode_rows {
    recmap_dataset *dataset;
    recmap_order *order;
    recmap_parser *parser;
    recmap_batch *batch;
    uint64_t positions[64];
    size_t count;
    struct image_counts counts;
    recmap_error error;
};

static void rows_init(struct episode_rows *rows, const recmap_image *image, size_t damaged) {
    const recmap_feature feature = feature_of(image);
    *rows = (struct episode_rows){.dataset = make_set(damaged), .order = make_windows()};
    rows->error = (recmap_error)RECMAP_ERROR_INIT;
    rows->count = (size_t)recmap_order_count(rows->order);
    assert_in_range(rows->count, 2 * FRAMES, 64);
    for (size_t i = 0; i < rows->count; i++) rows->positions[i] = i;
    ASSERT_OK(recmap_parser_create(&rows->parser, &feature, 1, NULL), NULL);
    ASSERT_OK(recmap_batch_create(&rows->batch, NULL), NULL);
    batch_set_image_counts(rows->batch, &rows->counts);
}

static recmap_status rows_read_epoch(struct episode_rows *rows, uint64_t epoch) {
    return recmap_dataset_rows(rows->batch, rows->dataset, rows->order, rows->parser, epoch,
                               rows->positions, rows->count, &rows->error);
}

static void rows_deinit(struct episode_rows *rows) {
    recmap_batch_destroy(rows->batch);
    recmap_parser_release(rows->parser);
    recmap_order_release(rows->order);
    recmap_dataset_close(rows->dataset);
}

static void check_picture(const uint8_t *pixels, const recmap_image *image, uint64_t frame,
                          const recmap_image_draw *draw) {
    struct picture_file file = picture_load(frames[frame]);
    uint8_t expected[PICTURE_SIZE];
    ASSERT_OK(
        recmap_image_decode(expected, sizeof expected, image, file.data, file.size, draw, NULL),
        NULL);
    assert_memory_equal(pixels, expected, PICTURE_SIZE);
    picture_deinit(&file);
}

/* Compares all places with single pictures. Returns how many places have one. */
static size_t check_rows(const struct episode_rows *rows, const recmap_image *image, uint64_t epoch,
                         uint64_t seed) {
    const recmap_pieces *pieces = recmap_batch_pieces(rows->batch);
    const recmap_column *column = recmap_columns_get(recmap_batch_columns(rows->batch), 0);
    static const uint8_t zeros[PICTURE_SIZE];
    const uint64_t shape[] = {rows->count, WIDTH, SIDE, SIDE, 3};
    size_t filled = 0;
    assert_int_equal(column->dimension_count, 5);
    assert_memory_equal(column->shape, shape, sizeof shape);
    const uint8_t *pixels = column->values;
    for (size_t row = 0; row < rows->count; row++) {
        const recmap_piece *piece = &pieces->items[row];
        recmap_image_draw draw = {seed, epoch, 0, RECMAP_NO_RECORD};
        ASSERT_OK(recmap_order_at(&draw.number, rows->order, epoch, &row, 1, NULL), NULL);
        for (uint64_t i = 0; i < WIDTH; i++, pixels += PICTURE_SIZE) {
            if (i < piece->place || i >= piece->place + piece->count) {
                assert_memory_equal(pixels, zeros, sizeof zeros);
                continue;
            }
            check_picture(pixels, image, piece->first + i - piece->place, &draw);
            filled++;
        }
    }
    return filled;
}

static void test_each_frame_is_decoded_once(void **unused) {
    (void)unused;
    struct episode_rows rows;
    rows_init(&rows, &whole, FRAMES);
    ASSERT_OK(rows_read_epoch(&rows, 3), &rows.error);
    size_t filled = check_rows(&rows, &whole, 3, 0);
    assert_int_equal(rows.counts.decoded_count, 2 * FRAMES);
    assert_true(filled > 4 * FRAMES);
    rows_deinit(&rows);
}

/* The epoch is that of the rows, not that of the draws. */
static void test_rows_have_draws_of_their_own(void **unused) {
    (void)unused;
    struct episode_rows rows;
    rows_init(&rows, &cropped, FRAMES);
    assert_int_equal(rows_read_epoch(&rows, 3), RECMAP_INVALID);
    assert_non_null(strstr(rows.error.message, "'image' is random"));
    const recmap_draws draws = {.seed = 11, .epoch = 1};
    recmap_batch_set_draws(rows.batch, &draws);
    for (uint64_t epoch = 3; epoch < 5; epoch++) {
        rows.counts = (struct image_counts){.decoded_count = 0};
        ASSERT_OK(rows_read_epoch(&rows, epoch), &rows.error);
        assert_int_equal(check_rows(&rows, &cropped, epoch, 11), rows.counts.decoded_count);
        assert_int_equal(recmap_batch_epoch(rows.batch), epoch);
        for (size_t row = 0; row < rows.count; row++)
            assert_int_equal(recmap_batch_positions(rows.batch)[row], row);
    }
    rows_deinit(&rows);
}

static void test_errors_name_the_frame(void **unused) {
    (void)unused;
    for (size_t damaged = 0; damaged < FRAMES; damaged++) {
        struct episode_rows rows;
        char text[64];
        rows_init(&rows, &whole, damaged);
        assert_int_equal(rows_read_epoch(&rows, 0), RECMAP_FEATURE);
        assert_int_equal(rows.error.record, 1);
        assert_string_equal(rows.error.path, "shard");
        snprintf(text, sizeof text, "picture (picture %zu, counted from 0)", damaged);
        assert_non_null(strstr(rows.error.message, text));
        assert_null(recmap_batch_columns(rows.batch));
        rows_deinit(&rows);
    }
}

static int answer(void *context) {
    size_t *questions_left = context;
    return !(*questions_left)--;
}

/* Decoding and copying are both work, so that more is asked than cutting alone does. */
static void test_decoding_asks_the_interrupt(void **unused) {
    (void)unused;
    struct episode_rows rows;
    rows_init(&rows, &whole, FRAMES);
    recmap_status status = RECMAP_CANCELLED;
    size_t count = 0;
    for (; status == RECMAP_CANCELLED; count++) {
        size_t questions_left = count;
        recmap_batch_set_interrupt(rows.batch, answer, &questions_left);
        status = rows_read_epoch(&rows, 0);
    }
    ASSERT_OK(status, &rows.error);
    assert_in_range(count, 3, 100);
    rows_deinit(&rows);
}

static void test_impossible_features_are_refused(void **unused) {
    (void)unused;
    const recmap_value zero = int64_value(0);
    recmap_feature feature = feature_of(&whole);
    recmap_parser *parser;
    recmap_error error = RECMAP_ERROR_INIT;
    feature.prepend = &zero;
    feature.prepend_count = 1;
    assert_int_equal(recmap_parser_create(&parser, &feature, 1, &error), RECMAP_INVALID);
    assert_non_null(strstr(error.message, "cannot be prepended"));
    feature.prepend_count = 0;
    feature.defaults = &zero;
    feature.default_count = 1;
    assert_int_equal(recmap_parser_create(&parser, &feature, 1, &error), RECMAP_INVALID);
    assert_non_null(strstr(error.message, "or have a default"));
}

/* Keys differ in each member, and many of them share an address. */
static void test_a_table_keeps_the_first_of_equal_pictures(void **unused) {
    (void)unused;
    enum { COUNT = 500 };
    static const uint8_t bytes[COUNT];
    struct picture_table table;
    assert_true(picture_table_init(&table, COUNT));
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT; i++) {
            const struct picture_key key = {bytes + i / 8, 1 + i / 4 % 2, i / 2 % 2, i % 2};
            assert_int_equal(picture_table_add(&table, &key, i + (size_t)round * COUNT), i);
        }
    picture_table_deinit(&table);
    assert_false(picture_table_init(&table, SIZE_MAX / 2));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(each_frame_is_decoded_once),      TEST(rows_have_draws_of_their_own),
        TEST(errors_name_the_frame),           TEST(decoding_asks_the_interrupt),
        TEST(impossible_features_are_refused), TEST(a_table_keeps_the_first_of_equal_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
