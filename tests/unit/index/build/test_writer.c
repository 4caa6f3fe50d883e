/* The writer: its file is what a plain writer writes, its index what indexing the file gives, and
 * nothing is there before it is closed. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/known.h"
#include "support/shards/oracle.h"

static recmap_writer *create(const char *path, const recmap_writer_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer;
    ASSERT_OK(recmap_writer_create(&writer, path, options, &error), &error);
    return writer;
}

static void write_all(recmap_writer *writer, const struct known *set) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < set->count; i++)
        ASSERT_OK(recmap_writer_write(writer, set->records[i].data, set->records[i].size, &error),
                  &error);
    ASSERT_OK(recmap_writer_finish(writer, &error), &error);
}

/* A written file must equal the known bytes, and the index written along must equal one built from
 * the file afterwards. */
static void test_file_and_index(void **state) {
    (void)state;
    int rounds = is_long() ? 300 : 12;
    for (int round = 0; round < rounds; round++) {
        struct rng random = {(uint64_t)round};
        struct known_options made = {
            1, (size_t)rng_below(&random, 6000), round % 3 ? 20 : 3000, false, round % 2, false};
        if (round % 3 == 0) made.record_count %= 1000;
        struct known set = known_generate(&made, &random);
        recmap_index_options index = known_index_options(&set);
        recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
        options.index_path = "written.rmx";
        options.index = &index;
        recmap_writer *writer = create("written", &options);
        assert_false(file_exists("written") && round == 0);
        write_all(writer, &set);
        recmap_writer_destroy(writer);
        assert_same_file("written", "s00000");
        const char *name = "written";
        index_build("indexed.rmx", &index, &name, 1);
        assert_same_file("written.rmx", "indexed.rmx");
        known_deinit(&set);
    }
}

/* Records larger than the writer's buffer, and sizes around it. */
static void test_records_larger_than_the_buffer_are_written(void **state) {
    (void)state;
    static const size_t sizes[] = {
        0, 1, (1 << 20) - 12, (1 << 20) - 11, 1 << 20, (1 << 20) + 1, 3, 3 << 20, 0};
    struct buffer due = BUFFER_INIT, payload = BUFFER_INIT;
    struct rng random = {4};
    buffer_add_random(&payload, 3 << 20, &random);
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = "large.rmx";
    recmap_writer *writer = create("large", &options);
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        oracle_add_record(&due, payload.data, sizes[i]);
        ASSERT_OK(recmap_writer_write(writer, payload.data, sizes[i], &error), &error);
    }
    ASSERT_OK(recmap_writer_finish(writer, &error), &error);
    recmap_writer_destroy(writer);
    file_write("due", due.data, due.size);
    assert_same_file("large", "due");
    const char *name = "large";
    index_build("indexed.rmx", NULL, &name, 1);
    assert_same_file("large.rmx", "indexed.rmx");
    buffer_deinit(&due);
    buffer_deinit(&payload);
}

static void test_nothing_before_closing(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = "x.rmx";
    file_write("x", "before", 6);
    recmap_writer *writer = create("x", &options);
    ASSERT_OK(recmap_writer_write(writer, "abc", 3, &error), &error);
    struct buffer kept = file_read("x");
    assert_memory_equal(kept.data, "before", 6);
    buffer_deinit(&kept);
    assert_false(file_exists("x.rmx"));
    recmap_writer_destroy(writer);
    assert_int_equal(folder_count(), 1);
    recmap_writer_destroy(NULL);
}

/* The records are not lost with the index. */
static void test_an_id_that_no_record_has(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct rng random = {1};
    struct known_options made = {1, 5, 20, false, false, false};
    struct known set = known_generate(&made, &random);
    recmap_index_options index = RECMAP_INDEX_OPTIONS_INIT;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    index.id_feature = "none";
    options.index_path = "lost.rmx";
    options.index = &index;
    recmap_writer *writer = create("lost", &options);
    for (size_t i = 0; i < set.count; i++)
        ASSERT_OK(recmap_writer_write(writer, set.records[i].data, set.records[i].size, &error),
                  &error);
    assert_int_equal(recmap_writer_finish(writer, &error), RECMAP_FEATURE);
    recmap_writer_destroy(writer);
    assert_same_file("lost", "s00000");
    assert_false(file_exists("lost.rmx"));
    index.is_part = 1;
    writer = create("part", &options);
    write_all(writer, &set);
    recmap_writer_destroy(writer);
    assert_true(file_exists("lost.rmx"));
    known_deinit(&set);
}

static void test_a_writer_finishes_once(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer = create("x", NULL);
    ASSERT_OK(recmap_writer_finish(writer, &error), &error);
    assert_int_equal(recmap_writer_finish(writer, &error), RECMAP_INVALID);
    assert_int_equal(recmap_writer_write(writer, "a", 1, &error), RECMAP_INVALID);
    recmap_writer_destroy(writer);
    struct buffer empty = file_read("x");
    assert_int_equal(empty.size, 0);
    buffer_deinit(&empty);
    assert_int_equal(folder_count(), 1);
}

/* A record that does not have what is to be lifted fails the writer, which names its place. */
static void test_error_in_record(void **state) {
    (void)state;
    recmap_lift lift = {"x", NULL, 0};
    recmap_index_options index = RECMAP_INDEX_OPTIONS_INIT;
    index.lifts = &lift;
    index.lift_count = 1;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = "x.rmx";
    options.index = &index;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer = create("x", &options);
    recmap_status status = recmap_writer_write(writer, "\xff\xff", 2, &error);
    assert_int_equal(status, RECMAP_FEATURE);
    assert_int_equal(error.record, 0);
    assert_int_equal(error.offset, 0);
    assert_non_null(strstr(error.path, "/x"));
    assert_int_equal(recmap_writer_write(writer, "", 0, &error), RECMAP_INVALID);
    assert_int_equal(recmap_writer_finish(writer, &error), RECMAP_INVALID);
    recmap_writer_destroy(writer);
    assert_int_equal(folder_count(), 0);
    writer = create("x", &options);
    status = recmap_writer_write(writer, "", 0, &error); /* an Example without features */
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, &error);
    assert_int_equal(status, RECMAP_FEATURE);
    assert_int_equal(error.record, 0);
    recmap_writer_destroy(writer);
    assert_int_equal(folder_count(), 0);
}

static void test_impossible_places_are_refused(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer = NULL;
    assert_int_equal(recmap_writer_create(&writer, "no/x", NULL, &error), RECMAP_IO);
    assert_int_equal(recmap_writer_create(&writer, "", NULL, &error), RECMAP_INVALID);
    assert_int_equal(recmap_writer_create(&writer, NULL, NULL, &error), RECMAP_INVALID);
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = "no/x.rmx";
    assert_int_equal(recmap_writer_create(&writer, "x", &options, &error), RECMAP_IO);
    options.version = RECMAP_WRITER_OPTIONS_VERSION + 1;
    assert_int_equal(recmap_writer_create(&writer, "x", &options, &error), RECMAP_INVALID);
    assert_null(writer);
    assert_int_equal(folder_count(), 0);
}

/* A full disk, as a limit on the size of files: an error that says so, and nothing is left. */
static void test_a_full_disk_leaves_nothing(void **state) {
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){1 << 20, before.rlim_max};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer = create("x", NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint8_t payload[10000] = {0};
    recmap_status status = RECMAP_OK;
    for (int i = 0; i < 300 && status == RECMAP_OK; i++)
        status = recmap_writer_write(writer, payload, sizeof payload, &error);
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, RECMAP_IO);
    assert_int_equal(error.system_errno, EFBIG);
    assert_int_equal(recmap_writer_write(writer, payload, 1, &error), RECMAP_INVALID);
    recmap_writer_destroy(writer);
    assert_int_equal(folder_count(), 0);
}

/* What a child does with its copy, up to more than any buffer holds: 0 if the library refused. */
static int use_in_child(recmap_writer *writer, const struct known *set, bool writes) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    for (int i = 0; writes && i < 300000 && status == RECMAP_OK; i++)
        status = recmap_writer_write(writer, set->records[0].data, set->records[0].size, &error);
    if (!writes) status = recmap_writer_finish(writer, &error);
    recmap_writer_destroy(writer);
    return status == RECMAP_INVALID ? 0 : 1;
}

/* Before a writer is closed children write, close and destroy theirs: the parent's file and index
 * are as if they had not. */
static void test_a_forked_child_leaves_the_file_alone(void **state) {
    (void)state;
    struct rng random = {3};
    struct known_options made = {1, 5000, 20, false, true, false};
    struct known set = known_generate(&made, &random);
    recmap_index_options index = known_index_options(&set);
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = "written.rmx";
    options.index = &index;
    recmap_writer *writer = create("written", &options);
    for (int child = 0; child < 2; child++) {
        pid_t process = fork();
        if (!process) _exit(use_in_child(writer, &set, child));
        int end;
        assert_int_equal(waitpid(process, &end, 0), process);
        assert_int_equal(end, 0);
    }
    write_all(writer, &set);
    recmap_writer_destroy(writer);
    assert_same_file("written", "s00000");
    const char *name = "written";
    index_build("indexed.rmx", &index, &name, 1);
    assert_same_file("written.rmx", "indexed.rmx");
    known_deinit(&set);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(file_and_index),
        TEST(records_larger_than_the_buffer_are_written),
        TEST(nothing_before_closing),
        TEST(an_id_that_no_record_has),
        TEST(a_writer_finishes_once),
        TEST(error_in_record),
        TEST(impossible_places_are_refused),
        TEST(a_full_disk_leaves_nothing),
        TEST(a_forked_child_leaves_the_file_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
