/* Allocations that fail while two threads fill a batch of pictures, once or from then on: at each
 * place where a batch is divided, decoded in parts and assembled. Either the batch is right, or the
 * call says NO_MEMORY and the next one gives the same batch; and nothing leaks. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/example_builder.h>
#include <recmap/image.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/rounds.h"
#include "unit/parse/image/picture_file.h"

enum { RECORDS = 40, FRAMES = 2, WINDOW = 2, SIDE = 8, TRIES = 4 };

/* What is read: a batch of records that have one picture each, or of windows of all frames. */
struct reading {
    const char *name;
    recmap_feature_kind kind;
    uint32_t side; /* of the pixels; 0: as the picture */
    recmap_on_bad_record policy;
    /* Without faults. */
    uint64_t row_count;
    uint64_t skipped_count;
    uint8_t *pixels;
    size_t size;
};

static struct reading readings[] = {
    {"records", RECMAP_FEATURE_IMAGE, SIDE, RECMAP_ON_BAD_RECORD_SKIP, 0, 0, NULL, 0},
    {"substitutes", RECMAP_FEATURE_IMAGE, SIDE, RECMAP_ON_BAD_RECORD_SUBSTITUTE, 0, 0, NULL, 0},
    {"sizes", RECMAP_FEATURE_IMAGE, 0, RECMAP_ON_BAD_RECORD_SKIP, 0, 0, NULL, 0},
    {"windows", RECMAP_FEATURE_SLICED, SIDE, RECMAP_ON_BAD_RECORD_ERROR, 0, 0, NULL, 0},
};

/* Every seventh record is cut off, if records may be bad. */
static void write_pictures(const char *index, const char *shard_name, size_t frames, bool has_bad) {
    struct picture_file picture = picture_load("gray.jpg");
    struct buffer shard = BUFFER_INIT;
    recmap_example_builder *builder;
    ASSERT_OK(recmap_example_builder_create(&builder, NULL), NULL);
    for (int i = 0; i < RECORDS; i++) {
        const bool is_bad = has_bad && i % 7 == 3;
        const recmap_bytes whole = {picture.data, is_bad ? picture.size / 3 : picture.size};
        const recmap_bytes values[FRAMES] = {whole, whole};
        const uint8_t *data;
        size_t size;
        recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
        ASSERT_OK(recmap_example_builder_add_bytes(builder, "image", values, frames, NULL), NULL);
        ASSERT_OK(recmap_example_builder_finish(&data, &size, builder, NULL), NULL);
        recmap_frame frame = recmap_frame_of(data, size);
        buffer_add(&shard, frame.header, sizeof frame.header);
        buffer_add(&shard, data, size);
        buffer_add(&shard, frame.footer, sizeof frame.footer);
    }
    recmap_example_builder_destroy(builder);
    index_bytes(index, NULL, shard_name, &shard);
    buffer_deinit(&shard);
    picture_deinit(&picture);
}

static recmap_status make_windows(recmap_order **order, recmap_error *error) {
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    uint64_t lengths[RECORDS];
    recmap_counts *counts = NULL;
    for (int i = 0; i < RECORDS; i++) lengths[i] = FRAMES;
    options.size = WINDOW;
    recmap_status status = recmap_counts_create(&counts, lengths, sizeof *lengths, RECORDS, error);
    if (status == RECMAP_OK) status = recmap_order_windows(order, counts, &options, error);
    recmap_counts_release(counts);
    return status;
}

static recmap_status make_parser(recmap_parser **parser, const struct reading *reading,
                                 recmap_error *error) {
    const recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                                .height = reading->side,
                                .width = reading->side,
                                .mode = RECMAP_IMAGE_RGB,
                                .crop = reading->side ? RECMAP_CROP_RANDOM_RESIZED
                                                      : RECMAP_CROP_NONE};
    const recmap_feature feature = {
        .name = "image", .kind = reading->kind, .element = RECMAP_ELEMENT_UINT8, .image = &image};
    return recmap_parser_create(parser, &feature, 1, error);
}

/* A loader whose only batch is the data set. */
struct session {
    recmap_dataset *dataset;
    recmap_order *order;
    recmap_parser *parser;
    recmap_loader *loader;
};

static void session_open(struct session *session, const struct reading *reading) {
    const bool has_rows = reading->kind == RECMAP_FEATURE_SLICED;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    session->dataset = dataset_open(has_rows ? "windows.rmx" : "records.rmx", NULL);
    ASSERT_OK(has_rows ? make_windows(&session->order, NULL)
                       : recmap_order_shuffled(&session->order, RECORDS, 2, NULL),
              NULL);
    ASSERT_OK(make_parser(&session->parser, reading, NULL), NULL);
    options.parser = session->parser;
    options.batch_size = RECORDS;
    options.thread_count = 2;
    options.batches_ahead = options.batches_ahead_epoch_limit = 1;
    options.on_bad_record = reading->policy;
    ASSERT_OK(
        recmap_loader_create(&session->loader, session->dataset, session->order, &options, NULL),
        NULL);
}

static void session_close(struct session *session) {
    recmap_loader_destroy(session->loader);
    recmap_parser_release(session->parser);
    recmap_order_release(session->order);
    recmap_dataset_close(session->dataset);
}

static const char *check_batch(const recmap_batch *batch, recmap_loader *loader,
                               const struct reading *reading) {
    const recmap_column *column = recmap_columns_get(recmap_batch_columns(batch), 0);
    recmap_loader_statistics statistics;
    if (column->row_count != reading->row_count) return "other rows";
    if (column->value_count != reading->size) return "another size";
    if (memcmp(column->values, reading->pixels, reading->size) != 0) return "other pixels";
    if (recmap_loader_get_statistics(&statistics, loader, NULL) != RECMAP_OK) return "no counts";
    return statistics.skipped_count == reading->skipped_count ? NULL : "another number is skipped";
}

static const char *take_batch(recmap_batch **batch, recmap_loader *loader, bool is_sticky) {
    for (int tries = 0; tries < TRIES; tries++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_loader_next(batch, loader, &error);
        if (status == RECMAP_OK) return NULL;
        if (status != RECMAP_NO_MEMORY || error.status != status)
            return case_says("%s: %s", recmap_status_name(status), error.message);
        if (is_sticky) return NULL;
    }
    return "the batch fails again and again";
}

static const char *run_case(void *context, size_t number) {
    const struct reading *reading = context;
    const bool is_sticky = number % 2;
    const struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE),
                                   .at = number / 2 + 1,
                                   .is_sticky = is_sticky,
                                   .fault = FAULT_ERRNO,
                                   .code = ENOMEM};
    const struct holdings before = holdings_now();
    struct session session;
    recmap_batch *batch = NULL;
    session_open(&session, reading);
    interpose_start(&plan);
    const char *wrong = take_batch(&batch, session.loader, is_sticky);
    interpose_stop();
    if (!wrong && batch) wrong = check_batch(batch, session.loader, reading);
    recmap_batch_destroy(batch);
    session_close(&session);
    if (!wrong) wrong = holdings_check(&before);
    if (!wrong) return NULL;
    char text[512];
    snprintf(text, sizeof text, "%s", wrong);
    return case_says("%s, allocation %zu%s: %s", reading->name, number / 2 + 1,
                     is_sticky ? " and all after" : "", text);
}

/* Reads the batch without faults. Returns the number of allocations. */
static uint64_t learn(struct reading *reading) {
    const struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE)};
    recmap_loader_statistics statistics;
    struct session session;
    recmap_batch *batch = NULL;
    session_open(&session, reading);
    interpose_start(&plan);
    assert_null(take_batch(&batch, session.loader, true));
    uint64_t count = interpose_stop();
    assert_non_null(batch);
    const recmap_column *column = recmap_columns_get(recmap_batch_columns(batch), 0);
    ASSERT_OK(recmap_loader_get_statistics(&statistics, session.loader, NULL), NULL);
    free(reading->pixels);
    reading->row_count = column->row_count;
    reading->skipped_count = statistics.skipped_count;
    reading->size = (size_t)column->value_count;
    reading->pixels = must_copy(column->values, reading->size);
    recmap_batch_destroy(batch);
    session_close(&session);
    return count;
}

static void test_failed_allocations_do_no_harm(void **state) {
    (void)state;
    if (test_is_sanitized()) {
        print_message("skipped: a sanitizer bears no shortage of memory when a thread starts\n");
        skip();
    }
    write_pictures("records.rmx", "records", 1, true);
    write_pictures("windows.rmx", "windows", FRAMES, false);
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        struct reading *reading = &readings[i];
        learn(reading); /* the first time, what stays for good is allocated too */
        const uint64_t count = learn(reading);
        assert_true(count > 20);
        assert_true(!reading->skipped_count == (reading->kind == RECMAP_FEATURE_SLICED));
        assert_int_equal(
            cases_run(reading->name, 2 * count, test_is_long() ? 1 : 3, run_case, reading), 0);
        free(reading->pixels);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_failed_allocations_do_no_harm, folder_enter,
                                        folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
