/* What others do to files while an index is built over them: a shard that changes, an index that is
 * replaced while it is appended to. Nothing is published then. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <recmap/annotation.h>

#include "index/scan/scan.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/features.h"
#include "support/shards/oracle.h"

static void write_shard(const char *name, uint8_t byte) {
    struct buffer bytes = BUFFER_INIT;
    for (int i = 0; i < 100; i++) oracle_add_record(&bytes, &byte, 1);
    file_write(name, bytes.data, bytes.size);
    buffer_deinit(&bytes);
}

/* Changes of a file that leave all but one thing as it was. */
static void change_nothing(const char *path) {
    (void)path;
}

static void change_time(const char *path) {
    file_set_time(path, file_time(path) + 1);
}

/* It grows: a worker may be reading what is mapped of it. */
static void change_size(const char *path) {
    int64_t time_ns = file_time(path);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fputc(0, file), 0);
    assert_int_equal(fclose(file), 0);
    file_set_time(path, time_ns);
}

static void change_inode(const char *path) {
    struct buffer bytes = file_read(path);
    file_write("other", bytes.data, bytes.size);
    file_set_time("other", file_time(path));
    assert_int_equal(rename("other", path), 0);
    buffer_deinit(&bytes);
}

typedef void (*change_fn)(const char *path);
static const change_fn changes[] = {change_nothing, change_time, change_size, change_inode};
enum { CHANGES = sizeof changes / sizeof *changes };

/* A sink that changes the shard at a moment. */
enum moment { BEFORE_IT_IS_OPENED, WHILE_IT_IS_READ, MOMENTS };

struct meddler {
    enum moment moment;
    change_fn change;
    size_t ended;        /* shards */
    size_t record_count; /* of the victim */
};

static const char victim[] = "s00001";

static recmap_status begin_shard(void *context, const char *path, recmap_error *error) {
    struct meddler *who = context;
    (void)error;
    if (who->moment == BEFORE_IT_IS_OPENED && !strcmp(path, victim)) who->change(victim);
    return RECMAP_OK;
}

static recmap_status add_run(void *context, const struct record_run *run, recmap_error *error) {
    struct meddler *who = context;
    (void)error;
    if (who->ended == 1) who->record_count += run->count;
    if (who->moment == WHILE_IT_IS_READ && who->ended == 1) who->change(victim);
    return RECMAP_OK;
}

static recmap_status add_damage(void *context, uint64_t offset, uint64_t length, const char *reason,
                                recmap_error *error) {
    (void)context;
    (void)offset;
    (void)length;
    (void)reason;
    (void)error;
    return RECMAP_OK;
}

static recmap_status end_shard(void *context, const struct shard_end *end, recmap_error *error) {
    (void)end;
    (void)error;
    ((struct meddler *)context)->ended++;
    return RECMAP_OK;
}

static recmap_status scan(struct meddler *meddler, unsigned thread_count, recmap_error *error) {
    struct extractor *extractor;
    ASSERT_OK(extractor_create(&extractor, NULL, error), error);
    recmap_progress totals = {0};
    struct scan_sink sink = {.context = meddler,
                             .begin_shard = begin_shard,
                             .add_run = add_run,
                             .add_damage = add_damage,
                             .end_shard = end_shard};
    struct scan_options options = {
        .thread_count = thread_count, .extractor = extractor, .totals = &totals};
    recmap_status status = scan_shards(shard_names(3), 3, &sink, &options, error);
    extractor_destroy(extractor);
    return status;
}

static void assert_changed(recmap_status status, const recmap_error *error) {
    assert_int_equal(status, RECMAP_STALE);
    assert_string_equal(error->message, "the file changed while it was being indexed");
    assert_string_equal(error->path, victim);
    assert_true(error->advice[0]);
}

/* Without threads of its own the scan opens a shard when it comes to it. With threads it may have
 * read the shard by the time its turn comes: the end of the shard is where that is noticed. */
static void test_a_shard_that_changes_meanwhile_is_an_error(void **state) {
    (void)state;
    for (int i = 0; i < MOMENTS * CHANGES; i++) {
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
            recmap_error error = RECMAP_ERROR_INIT;
            struct meddler who = {.moment = (enum moment)(i / CHANGES),
                                  .change = changes[i % CHANGES]};
            recmap_status status = scan(&who, threads, &error);
            if (who.change == change_nothing) {
                ASSERT_OK(status, &error);
                assert_int_equal(who.ended, 3);
            } else {
                assert_changed(status, &error);
                assert_int_equal(who.ended, 1);
            }
        }
    }
}

/* Before the shard was read, so that nothing of the new file comes: its records are others. */
static void replace_by_others(const char *path) {
    int64_t time_ns = file_time(path);
    write_shard("other", 77);
    file_set_time("other", time_ns);
    assert_int_equal(rename("other", path), 0);
}

static void test_shard_is_replaced_before_it_is_read(void **state) {
    (void)state;
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    recmap_error error = RECMAP_ERROR_INIT;
    struct meddler who = {.moment = BEFORE_IT_IS_OPENED, .change = replace_by_others};
    assert_changed(scan(&who, 1, &error), &error);
    assert_int_equal(who.record_count, 0);
}

/* The index by another build, a copy of the index that was there, or none. */
static void put_other(void) {
    assert_int_equal(rename("other.rmx", "set.rmx"), 0);
}

static void put_copy(void) {
    change_inode("set.rmx");
}

static void put_nothing(void) {
    assert_int_equal(unlink("set.rmx"), 0);
}

static void put_back(void) {
    assert_int_equal(rename("set.rmx", "kept.rmx"), 0);
    assert_int_equal(rename("kept.rmx", "set.rmx"), 0);
}

static recmap_status append_while(void (*meddle)(void), recmap_error *error) {
    recmap_index_builder *builder;
    ASSERT_OK(recmap_index_builder_create(&builder, "set.rmx", NULL, error), error);
    ASSERT_OK(recmap_index_builder_add_index(builder, "set.rmx", error), error);
    ASSERT_OK(recmap_index_builder_add_shard(builder, "s00001", error), error);
    meddle();
    recmap_index_summary summary = {.record_count = 99};
    recmap_status status = recmap_index_builder_finish(&summary, builder, error);
    assert_int_equal(summary.record_count, status == RECMAP_OK ? 200 : 99);
    recmap_index_builder_destroy(builder);
    return status;
}

static void test_index_is_replaced(void **state) {
    (void)state;
    void (*const meddlings[])(void) = {put_other, put_copy};
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    for (size_t i = 0; i < sizeof meddlings / sizeof *meddlings; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        index_build("set.rmx", NULL, shard_names(3), 1);
        index_build("other.rmx", NULL, (const char *[]){"s00002"}, 1);
        index_build("due.rmx", NULL, i == 0 ? (const char *[]){"s00002"} : shard_names(3), 1);
        size_t files = folder_count();
        assert_int_equal(append_while(meddlings[i], &error), RECMAP_MISMATCH);
        assert_string_equal(error.message,
                            "another build replaced the index that was being appended to");
        assert_string_equal(error.path, "set.rmx");
        assert_string_equal(error.advice, "append again");
        assert_same_file("set.rmx", "due.rmx");
        assert_int_equal(folder_count(), i == 1 ? files : files - 1);
    }
}

/* An index that was removed during the build is not written again. The test does not prescribe
 * where the removal is noticed. */
static void test_index_is_removed(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    index_build("set.rmx", NULL, shard_names(3), 1);
    size_t files = folder_count();
    recmap_status status = append_while(put_nothing, &error);
    assert_true(status == RECMAP_MISMATCH || status == RECMAP_IO);
    assert_non_null(strstr(error.path, "set.rmx"));
    assert_false(file_exists("set.rmx"));
    assert_int_equal(folder_count(), files - 1);
}

/* The same file under its name again is not a different one. */
static void test_an_index_of_the_same_name_is_not_another(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    index_build("set.rmx", NULL, shard_names(3), 1);
    index_build("due.rmx", NULL, shard_names(3), 2);
    ASSERT_OK(append_while(put_back, &error), &error);
    assert_same_file("set.rmx", "due.rmx");
}

static recmap_index_builder *begin_append(const recmap_index_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    ASSERT_OK(recmap_index_builder_create(&builder, "set.rmx", options, &error), &error);
    return builder;
}

static void write_examples(const char *name) {
    struct buffer bytes = BUFFER_INIT, features = BUFFER_INIT, example = BUFFER_INIT;
    for (int i = 0; i < 10; i++) {
        example.size = 0;
        features_add_int64(&features, "n", i);
        features_end(&example, &features);
        oracle_add_record(&bytes, example.data, example.size);
    }
    file_write(name, bytes.data, bytes.size);
    buffer_deinit(&bytes);
    buffer_deinit(&features);
    buffer_deinit(&example);
}

/* Another process adds the column "score". */
static void annotate_index(void) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_annotation *annotation;
    recmap_value number = int64_value(3), value = int64_value(77);
    ASSERT_OK(recmap_annotation_create(&annotation, dataset, NULL, &error), &error);
    ASSERT_OK(recmap_annotation_add_column(annotation, "score", RECMAP_TYPE_INT64, "5", &error),
              &error);
    ASSERT_OK(recmap_annotation_add_rows(annotation, RECMAP_KEY_NUMBER, &number, &value, 1, &error),
              &error);
    ASSERT_OK(recmap_annotation_finish(annotation, &error), &error);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
}

static int64_t score_of(recmap_dataset *dataset, uint64_t number) {
    recmap_error error = RECMAP_ERROR_INIT;
    int64_t score = 0;
    size_t column;
    ASSERT_OK(recmap_dataset_find_lifted_column(&column, dataset, "score", &error), &error);
    ASSERT_OK(recmap_dataset_read_int64(&score, dataset, column, number, 1, &error), &error);
    return score;
}

/* An append that inherits takes what the index has when it is locked: a column that was annotated
 * after the caller read the index is kept. */
static void test_index_is_annotated_before_it_is_locked(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    const recmap_lift lift = {"n", NULL, 0};
    options.lifts = &lift;
    options.lift_count = 1;
    for (size_t s = 0; s < 2; s++) write_examples(shard_names(2)[s]);
    index_build("set.rmx", &options, shard_names(2), 1);
    for (options.inherits = 0; options.inherits < 2; options.inherits++) {
        recmap_index_builder *builder = begin_append(&options);
        if (!options.inherits) annotate_index();
        recmap_status status = recmap_index_builder_add_index(builder, "set.rmx", &error);
        assert_int_equal(status, options.inherits ? RECMAP_OK : RECMAP_MISMATCH);
        if (options.inherits) {
            recmap_index_summary summary;
            ASSERT_OK(recmap_index_builder_add_shard(builder, "s00001", &error), &error);
            ASSERT_OK(recmap_index_builder_finish(&summary, builder, &error), &error);
            assert_int_equal(summary.record_count, 20);
        }
        recmap_index_builder_destroy(builder);
    }
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    assert_int_equal(score_of(dataset, 3), 77);
    assert_int_equal(score_of(dataset, 13), 5);
    recmap_dataset_close(dataset);
}

static void lock_by_reader(void) {
    int fd = open("set.rmx", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0); /* held until the process exits */
}

/* Locks of the index itself, which every reader can take, block no append: this test ends. */
static void test_reader_locks_index(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    index_build("set.rmx", NULL, shard_names(3), 1);
    index_build("due.rmx", NULL, shard_names(3), 2);
    alarm(60);
    ASSERT_OK(append_while(lock_by_reader, &error), &error);
    index_build("set.rmx", NULL, shard_names(3), 1);
    lock_by_reader();
    ASSERT_OK(append_while(put_back, &error), &error);
    alarm(0);
    assert_same_file("set.rmx", "due.rmx");
}

static int cancel_third_wait(const recmap_progress *progress, void *context) {
    int *waits = context;
    assert_true(progress->is_waiting);
    assert_string_equal(progress->path, "set.rmx");
    return ++*waits == 3;
}

/* The second of two appends waits until the callback cancels it. Only writers can open what it
 * waits for, and nothing of either append is left. */
static void test_wait_is_cancelled(void **state) {
    (void)state;
    int waits = 0;
    struct stat lock;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.progress = cancel_third_wait;
    options.progress_context = &waits;
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    index_build("set.rmx", NULL, shard_names(3), 1);
    size_t files = folder_count();
    recmap_index_builder *first = begin_append(NULL), *second = begin_append(&options);
    ASSERT_OK(recmap_index_builder_add_index(first, "set.rmx", &error), &error);
    assert_int_equal(stat("set.rmx.lock", &lock), 0);
    assert_int_equal(lock.st_mode & (S_IRUSR | S_IRGRP | S_IROTH), 0);
    assert_int_equal(recmap_index_builder_add_index(second, "set.rmx", &error), RECMAP_CANCELLED);
    assert_string_equal(error.message, "cancelled while waiting for another append to the index");
    assert_string_equal(error.path, "set.rmx");
    assert_int_equal(waits, 3);
    recmap_index_builder_destroy(second);
    assert_int_equal(folder_count(), files + 2); /* the first one's temporary file and lock */
    recmap_index_builder_destroy(first);
    assert_int_equal(folder_count(), files);
}

/* An append that was killed leaves an empty lock file, which the next one removes. Any other file
 * of that name is the user's and is not touched. */
static void test_lock_file_exists(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    index_build("set.rmx", NULL, shard_names(3), 1);
    file_write("set.rmx.lock", "mine", 4);
    recmap_index_builder *builder = begin_append(NULL);
    assert_int_equal(recmap_index_builder_add_index(builder, "set.rmx", &error), RECMAP_IO);
    assert_string_equal(error.path, "set.rmx.lock");
    recmap_index_builder_destroy(builder);
    assert_true(file_exists("set.rmx.lock"));
    assert_int_equal(truncate("set.rmx.lock", 0), 0);
    error = (recmap_error)RECMAP_ERROR_INIT;
    ASSERT_OK(append_while(put_back, &error), &error);
    assert_false(file_exists("set.rmx.lock"));
}

static void annotate(const char *index) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = dataset_open(index, NULL);
    recmap_annotation *annotation = NULL;
    ASSERT_OK(recmap_annotation_create(&annotation, dataset, NULL, &error), &error);
    ASSERT_OK(recmap_annotation_add_column(annotation, "score", RECMAP_TYPE_INT64, "1", &error),
              &error);
    ASSERT_OK(recmap_annotation_finish(annotation, &error), &error);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
}

/* Builds set.rmx of two shards. Meanwhile, the index that was there is annotated; or, if `is_new`,
 * one that another build published. */
static recmap_status build_while_annotated(bool is_new, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    ASSERT_OK(recmap_index_builder_create(&builder, "set.rmx", NULL, error), error);
    for (size_t s = 0; s < 2; s++)
        ASSERT_OK(recmap_index_builder_add_shard(builder, shard_names(3)[s], error), error);
    if (is_new) index_build("set.rmx", NULL, shard_names(3), 1);
    annotate("set.rmx");
    recmap_status status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

/* The values of annotated columns are in no shard. */
static void test_index_is_annotated(void **state) {
    (void)state;
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    for (int is_new = 0; is_new < 2; is_new++) {
        recmap_error error = RECMAP_ERROR_INIT;
        if (!is_new) index_build("set.rmx", NULL, shard_names(3), 1);
        assert_int_equal(build_while_annotated(is_new, &error), RECMAP_STALE);
        assert_string_equal(error.path, "set.rmx");
        assert_non_null(strstr(error.message, "has the annotated column \"score\""));
        recmap_dataset *dataset = dataset_open("set.rmx", NULL);
        assert_int_equal(recmap_dataset_get_info(dataset)->shard_count, 1);
        assert_int_equal(recmap_dataset_get_info(dataset)->lifted_column_count, 2);
        recmap_dataset_close(dataset);
        assert_int_equal(unlink("set.rmx"), 0);
    }
    assert_int_equal(folder_count(), 3);
}

/* Of two builds, the later one wins. */
static void test_index_is_built_twice(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder = NULL;
    for (size_t s = 0; s < 3; s++) write_shard(shard_names(3)[s], (uint8_t)s);
    ASSERT_OK(recmap_index_builder_create(&builder, "set.rmx", NULL, &error), &error);
    for (size_t s = 0; s < 2; s++)
        ASSERT_OK(recmap_index_builder_add_shard(builder, shard_names(3)[s], &error), &error);
    index_build("set.rmx", NULL, shard_names(3), 3);
    ASSERT_OK(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    assert_int_equal(recmap_dataset_get_info(dataset)->shard_count, 2);
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(a_shard_that_changes_meanwhile_is_an_error),
        TEST(shard_is_replaced_before_it_is_read),
        TEST(index_is_replaced),
        TEST(index_is_removed),
        TEST(index_is_annotated_before_it_is_locked),
        TEST(an_index_of_the_same_name_is_not_another),
        TEST(reader_locks_index),
        TEST(wait_is_cancelled),
        TEST(lock_file_exists),
        TEST(index_is_annotated),
        TEST(index_is_built_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
