/* Building, merging and verifying indexes, and listing shards, take seconds for millions of records
 * or files. Each such call asks the thread's interrupt, or reports progress, while it works. It can
 * be stopped at any question, and then leaves nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/core/bytes.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/oracle.h"
#include "unit/index/build/parts.h"

enum { RECORDS = 100000, FILES = 600 };

struct questions {
    size_t count;
    size_t stop; /* the question that is answered with "stop", or SIZE_MAX */
};

static int answer(void *context) {
    struct questions *questions = context;
    return questions->count++ == questions->stop;
}

static recmap_status lift(const recmap_record *record, recmap_value *id, recmap_value *columns,
                          size_t column_count, char *message, size_t message_capacity,
                          void *context) {
    (void)context, (void)message, (void)message_capacity;
    uint64_t number = load64(record->data);
    if (id) *id = int64_value((int64_t)(number * 0x9e3779b97f4a7c15u));
    for (size_t i = 0; i < column_count; i++) columns[i] = int64_value((int64_t)number);
    return RECMAP_OK;
}

static const recmap_lift number_lift = {"number", NULL, 0};

static recmap_index_options options_of_parts(void) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.thread_count = 1;
    options.id_feature = "id";
    options.lifts = &number_lift;
    options.lift_count = 1;
    options.lift = lift;
    return options;
}

static void write_shard(const char *name, uint64_t first) {
    struct buffer shard = BUFFER_INIT;
    for (uint64_t i = 0; i < RECORDS / 2; i++) {
        uint8_t payload[8];
        store64(payload, first + i);
        oracle_add_record(&shard, payload, sizeof payload);
    }
    file_write(name, shard.data, shard.size);
    buffer_deinit(&shard);
}

static const char *const halves[] = {"a", "b"};

/* Two shards, an index of each, and one of both. */
static void build_parts(void) {
    recmap_index_options options = options_of_parts();
    write_shard("a", 0);
    write_shard("b", RECORDS / 2);
    index_build("a.rmx", &options, halves, 1);
    index_build("b.rmx", &options, halves + 1, 1);
    index_build("ab.rmx", &options, halves, 2);
}

typedef recmap_status (*call_fn)(recmap_error *error);

/* All questions are asked by this thread, so their number is always the same. Each loop that asks
 * has at least two of them. */
static void check_call(call_fn call, size_t questions_min) {
    struct questions all = {0, SIZE_MAX};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_thread_set_interrupt(answer, &all);
    ASSERT_OK(call(&error), &error);
    remove("out.rmx");
    size_t files = folder_count();
    if (all.count < questions_min) print_message("only %zu questions\n", all.count);
    assert_true(all.count >= questions_min);
    for (size_t stop = 0; stop < all.count; stop += 1 + all.count / 32) {
        struct questions questions = {0, stop};
        recmap_thread_set_interrupt(answer, &questions);
        assert_int_equal(call(&error), RECMAP_CANCELLED);
        assert_int_equal(questions.count, stop + 1);
        assert_int_equal(folder_count(), files);
    }
    recmap_thread_set_interrupt(NULL, NULL);
}

static recmap_status build_index(recmap_error *error) {
    recmap_index_options options = options_of_parts();
    static const struct build_part parts[] = {{NULL, "a"}, {NULL, "b"}};
    return parts_build("out.rmx", &options, parts, 2, error);
}

static void test_indexing_asks_the_interrupt(void **state) {
    (void)state;
    build_parts();
    check_call(build_index, 46);
}

static const struct build_part parts_of_merge[] = {{"a.rmx", NULL}, {"b.rmx", NULL}};

static recmap_status merge_indexes(recmap_error *error) {
    recmap_index_options options = options_of_parts();
    return parts_build("out.rmx", &options, parts_of_merge, 2, error);
}

static void test_merging_asks_the_interrupt(void **state) {
    (void)state;
    build_parts();
    check_call(merge_indexes, 83);
}

static recmap_status verify_index(recmap_error *error) {
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    recmap_report *report = NULL;
    options.index_only = 1;
    recmap_dataset *dataset = dataset_open("ab.rmx", NULL);
    recmap_status status = recmap_dataset_verify(&report, dataset, &options, error);
    recmap_report_destroy(report);
    recmap_dataset_close(dataset);
    return status;
}

static void test_verifying_asks_the_interrupt(void **state) {
    (void)state;
    build_parts();
    check_call(verify_index, 8);
}

static void write_files(void) {
    for (int i = 0; i < FILES; i++) {
        char name[64];
        snprintf(name, sizeof name, "x-%05d-of-%05d", i, FILES);
        file_write(name, "", 0);
    }
}

static recmap_status add_shards(const char *name, recmap_error *error) {
    recmap_shards *shards;
    ASSERT_OK(recmap_shards_create(&shards, error), error);
    recmap_status status = recmap_shards_add(shards, name, error);
    assert_int_equal(recmap_shards_count(shards), status == RECMAP_OK ? FILES : 0);
    recmap_shards_destroy(shards);
    return status;
}

static recmap_status add_folder(recmap_error *error) {
    return add_shards(".", error);
}

static recmap_status add_matches(recmap_error *error) {
    return add_shards("x*", error);
}

static recmap_status add_set(recmap_error *error) {
    return add_shards("x@600", error);
}

static recmap_status add_list(recmap_error *error) {
    return add_shards("@_list", error);
}

static void write_list(void) {
    struct buffer list = BUFFER_INIT;
    for (int i = 0; i < FILES; i++) {
        char line[64];
        int size = snprintf(line, sizeof line, "x-%05d-of-%05d\n", i, FILES);
        buffer_add(&list, line, (size_t)size);
    }
    file_write("_list", list.data, list.size);
    buffer_deinit(&list);
}

static void test_listing_shards_asks_the_interrupt(void **state) {
    (void)state;
    write_files();
    check_call(add_folder, 18);
    check_call(add_matches, 18);
    check_call(add_set, 9);
    write_list();
    check_call(add_list, 9);
}

static recmap_status build_many(recmap_error *error) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    struct build_part parts[FILES];
    char names[FILES][32];
    for (int i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "x-%05d-of-%05d", i, FILES);
        parts[i] = (struct build_part){NULL, names[i]};
    }
    options.thread_count = 1;
    return parts_build("out.rmx", &options, parts, FILES, error);
}

static void test_many_shards_ask_the_interrupt(void **state) {
    (void)state;
    write_files();
    check_call(build_many, 675);
}

static recmap_status merge_many(recmap_error *error) {
    static const struct build_part parts[] = {{"first.rmx", NULL}, {"second.rmx", NULL}};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.thread_count = 1;
    return parts_build("out.rmx", &options, parts, 2, error);
}

/* Copying the names of the shards and adding the shards to the index are two loops. */
static void test_merge_of_many_shards(void **state) {
    (void)state;
    static char names[FILES][32];
    const char *paths[FILES];
    write_files();
    for (int i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "x-%05d-of-%05d", i, FILES);
        paths[i] = names[i];
    }
    index_build("first.rmx", NULL, paths, FILES / 2);
    index_build("second.rmx", NULL, paths + FILES / 2, FILES / 2);
    check_call(merge_many, 12);
}

static int cancel(const recmap_progress *progress, void *context) {
    int *count = context;
    ++*count;
    assert_string_equal(progress->path, "a.rmx");
    return 1;
}

/* A merge reads no shard, whose scan would report progress. */
static void test_progress_of_a_merge(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = options_of_parts();
    int count = 0;
    build_parts();
    size_t files = folder_count();
    options.progress = cancel;
    options.progress_context = &count;
    assert_int_equal(parts_build("out.rmx", &options, parts_of_merge, 2, &error), RECMAP_CANCELLED);
    assert_int_equal(count, 1);
    assert_int_equal(folder_count(), files);
}

/* A function that uses the library itself, as signal handlers in Python may. */
static int use_library(void *context) {
    static uint64_t values[RECORDS];
    int *depth = context;
    recmap_counts *counts = NULL;
    assert_int_equal(++*depth, 1);
    assert_int_equal(recmap_counts_create(&counts, values, 8, RECORDS, NULL), RECMAP_OK);
    recmap_counts_release(counts);
    --*depth;
    return 0;
}

static void test_calls_within_the_function(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    int depth = 0;
    build_parts();
    recmap_thread_set_interrupt(use_library, &depth);
    ASSERT_OK(build_index(&error), &error);
    recmap_thread_set_interrupt(NULL, NULL);
}

static recmap_status write_records(recmap_error *error) {
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    recmap_index_options index = options_of_parts();
    recmap_writer *writer = NULL;
    options.index_path = "written.rmx";
    options.index = &index;
    ASSERT_OK(recmap_writer_create(&writer, "written", &options, error), error);
    recmap_status status = RECMAP_OK;
    for (uint64_t i = 0; status == RECMAP_OK && i < RECORDS; i++)
        status = recmap_writer_write(writer, &i, sizeof i, error);
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, error);
    recmap_writer_destroy(writer);
    return status;
}

/* What was written would be lost. */
static void test_writers_are_not_stopped(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct questions questions = {0, 0};
    recmap_thread_set_interrupt(answer, &questions);
    ASSERT_OK(write_records(&error), &error);
    recmap_thread_set_interrupt(NULL, NULL);
    assert_int_equal(questions.count, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(indexing_asks_the_interrupt),   TEST(merging_asks_the_interrupt),
        TEST(verifying_asks_the_interrupt),  TEST(listing_shards_asks_the_interrupt),
        TEST(many_shards_ask_the_interrupt), TEST(merge_of_many_shards),
        TEST(progress_of_a_merge),           TEST(calls_within_the_function),
        TEST(writers_are_not_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
