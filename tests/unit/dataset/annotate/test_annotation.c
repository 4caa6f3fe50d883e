/* Annotations: rows that a program adds, misuse, and other writers of the same index. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/oracle.h"

enum { COUNT = 3 };

static recmap_dataset *open_three_records(void) {
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < COUNT; i++) oracle_add_record(&shard, "record", 6);
    index_bytes("set.rmx", NULL, "shard", &shard);
    buffer_deinit(&shard);
    return dataset_open("set.rmx", NULL);
}

static recmap_annotation *annotate(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_annotation *annotation = NULL;
    ASSERT_OK(recmap_annotation_create(&annotation, dataset, NULL, &error), &error);
    return annotation;
}

/* Adds the values 10, 20 and 30, the last record's first. */
static void add_tens(recmap_annotation *annotation) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (int64_t i = COUNT - 1; i >= 0; i--) {
        recmap_value key = int64_value(i), value = int64_value(10 * (i + 1));
        ASSERT_OK(
            recmap_annotation_add_rows(annotation, RECMAP_KEY_NUMBER, &key, &value, 1, &error),
            &error);
    }
}

static void add_column(recmap_annotation *annotation) {
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_annotation_add_column(annotation, "x", RECMAP_TYPE_INT64, NULL, &error),
              &error);
}

static size_t column_count(void) {
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    size_t count = recmap_dataset_get_info(dataset)->lifted_column_count;
    recmap_dataset_close(dataset);
    return count;
}

static void test_rows_become_a_column(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records();
    recmap_annotation *annotation = annotate(dataset);
    add_column(annotation);
    add_tens(annotation);
    ASSERT_OK(recmap_annotation_finish(annotation, &error), &error);
    assert_int_equal(recmap_annotation_finish(annotation, &error), RECMAP_INVALID);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    dataset = dataset_open("set.rmx", NULL);
    size_t column;
    int64_t values[COUNT];
    ASSERT_OK(recmap_dataset_find_lifted_column(&column, dataset, "x", &error), &error);
    ASSERT_OK(recmap_dataset_read_int64(values, dataset, column, 0, COUNT, &error), &error);
    for (int i = 0; i < COUNT; i++) assert_int_equal(values[i], 10 * (i + 1));
    recmap_dataset_close(dataset);
}

/* Annotates the last record with 0.5, in a column whose default is for the others. */
static size_t add_half(recmap_type type, const char *default_value) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records();
    recmap_annotation *annotation = annotate(dataset);
    recmap_value key = int64_value(COUNT - 1), half = {.type = type};
    if (type == RECMAP_TYPE_FLOAT) half.as.float32 = 0.5f;
    else half.as.float64 = 0.5;
    ASSERT_OK(recmap_annotation_add_column(annotation, "x", type, default_value, &error), &error);
    ASSERT_OK(recmap_annotation_add_rows(annotation, RECMAP_KEY_NUMBER, &key, &half, 1, &error),
              &error);
    ASSERT_OK(recmap_annotation_finish(annotation, &error), &error);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    return 1; /* the column after "@length" */
}

/* A column of floats can be read as float64, but not the reverse. */
static void test_floats_are_read_as_float64_but_not_the_reverse(void **state) {
    (void)state;
    static const struct {
        recmap_type type;
        const char *default_value;
        double expected;
        recmap_status as_float;
    } cases[] = {
        {RECMAP_TYPE_FLOAT64, "0.1", 0.1, RECMAP_INVALID},
        {RECMAP_TYPE_FLOAT64, "-1e300", -1e300, RECMAP_INVALID},
        {RECMAP_TYPE_FLOAT64, NULL, 0, RECMAP_INVALID},
        {RECMAP_TYPE_FLOAT, "0.1", (double)0.1f, RECMAP_OK},
        {RECMAP_TYPE_FLOAT, NULL, 0, RECMAP_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        size_t column = add_half(cases[i].type, cases[i].default_value);
        recmap_dataset *dataset = dataset_open("set.rmx", NULL);
        double values[COUNT];
        float floats[COUNT];
        int64_t integers[COUNT];
        ASSERT_OK(recmap_dataset_read_float64(values, dataset, column, 0, COUNT, &error), &error);
        for (int k = 0; k < COUNT; k++)
            assert_true(values[k] == (k < COUNT - 1 ? cases[i].expected : 0.5));
        assert_int_equal(recmap_dataset_read_float(floats, dataset, column, 0, COUNT, &error),
                         cases[i].as_float);
        assert_int_equal(recmap_dataset_read_int64(integers, dataset, column, 0, COUNT, &error),
                         RECMAP_INVALID);
        recmap_dataset_close(dataset);
        assert_int_equal(unlink("set.rmx"), 0);
    }
}

static int is_annotated(const char *name) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_lifted_column info;
    size_t column;
    ASSERT_OK(recmap_dataset_find_lifted_column(&column, dataset, name, &error), &error);
    ASSERT_OK(recmap_dataset_get_lifted_column(&info, dataset, column, &error), &error);
    recmap_dataset_close(dataset);
    return info.is_annotated;
}

/* A column like another one keeps its mark, and another column does not change it. */
static void test_a_column_like_another_keeps_its_mark(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_lifted_column lifted = {"lifted", RECMAP_TYPE_INT64, "7", 0, 0, {0}};
    recmap_lifted_column annotated = {"annotated", RECMAP_TYPE_INT64, NULL, 1, 0, {0}};
    recmap_lifted_column invalid = {"@x", RECMAP_TYPE_INT64, NULL, 0, 0, {0}};
    recmap_lifted_column typeless = {"y", (recmap_type)77, NULL, 0, 0, {0}};
    recmap_lifted_column later = {"z", RECMAP_TYPE_INT64, NULL, 0, 0, {1}};
    recmap_dataset *dataset = open_three_records();
    recmap_annotation *annotation = annotate(dataset);
    ASSERT_OK(recmap_annotation_add_column_like(annotation, &lifted, &error), &error);
    ASSERT_OK(recmap_annotation_add_column_like(annotation, &annotated, &error), &error);
    add_tens(annotation);
    add_column(annotation);
    add_tens(annotation);
    ASSERT_OK(recmap_annotation_finish(annotation, &error), &error);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    assert_false(is_annotated("lifted"));
    assert_true(is_annotated("annotated"));
    assert_true(is_annotated("x"));
    dataset = open_three_records();
    annotation = annotate(dataset);
    assert_int_equal(recmap_annotation_add_column_like(annotation, &later, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "a reserved member of the column is not 0");
    assert_int_equal(recmap_annotation_add_column_like(annotation, &typeless, &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message,
                        "invalid column type 77: use INT64, FLOAT, FLOAT64 or BYTES");
    assert_int_equal(recmap_annotation_add_column_like(annotation, &invalid, &error),
                     RECMAP_INVALID);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
}

/* The setting applies to the columns which are added after it. */
static void test_records_without_a_value(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records();
    recmap_annotation *annotation = annotate(dataset);
    recmap_lifted_column like = {"like", RECMAP_TYPE_INT64, NULL, 1, 0, {0}};
    recmap_value key = int64_value(1), none = {.type = RECMAP_TYPE_NONE};
    add_column(annotation); /* without a value for any record */
    recmap_annotation_set_nullable(annotation, 0);
    ASSERT_OK(recmap_annotation_add_column_like(annotation, &like, &error), &error);
    ASSERT_OK(recmap_annotation_add_column(annotation, "d", RECMAP_TYPE_INT64, "7", &error),
              &error);
    ASSERT_OK(recmap_annotation_add_column(annotation, "full", RECMAP_TYPE_INT64, NULL, &error),
              &error);
    add_tens(annotation);
    ASSERT_OK(recmap_annotation_finish(annotation, &error), &error);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    assert_int_equal(column_count(), 5);

    dataset = dataset_open("set.rmx", NULL);
    annotation = annotate(dataset);
    recmap_annotation_set_nullable(annotation, 0);
    ASSERT_OK(recmap_annotation_add_column(annotation, "y", RECMAP_TYPE_INT64, NULL, &error),
              &error);
    for (int64_t i = 0; i < COUNT; i++) {
        recmap_value number = int64_value(i);
        ASSERT_OK(recmap_annotation_add_rows(annotation, RECMAP_KEY_NUMBER, &number,
                                             i == key.as.int64 ? &none : &key, 1, &error),
                  &error);
    }
    assert_int_equal(recmap_annotation_finish(annotation, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "record 1 has no value for column \"y\"");
    assert_string_equal(error.path, "set.rmx");
    assert_string_equal(error.advice,
                        "give records without a value a default: `--default y=VALUE`, "
                        "or use `--missing-values null`");
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    assert_int_equal(column_count(), 5);
}

/* After an error nothing is published. */
static void test_after_an_error_nothing_is_published(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records();
    recmap_annotation *annotation = annotate(dataset);
    recmap_value key = int64_value(0), text = text_value("x");
    assert_int_equal(
        recmap_annotation_add_rows(annotation, RECMAP_KEY_NUMBER, &key, &key, 1, &error),
        RECMAP_INVALID);
    assert_string_equal(
        error.message,
        "there is no column to add rows to: call recmap_annotation_add_column first");
    add_column(annotation);
    add_tens(annotation);
    assert_int_equal(
        recmap_annotation_add_rows(annotation, RECMAP_KEY_NUMBER, &key, &text, 1, &error),
        RECMAP_INVALID);
    assert_string_equal(error.message, "the value has type bytes, but column \"x\" has type int64");
    assert_int_equal(recmap_annotation_finish(annotation, &error), RECMAP_INVALID);
    recmap_annotation_destroy(annotation);
    recmap_annotation_destroy(NULL);
    recmap_dataset_close(dataset);
    assert_int_equal(column_count(), 1);
}

/* Cancels at the first question after the file was opened. */
static int cancel_later(const recmap_progress *progress, void *context) {
    (void)progress;
    return ++*(int *)context > 1;
}

/* A line as long as the file: the call stops within it, not at its end. */
static void test_cancelled_within_a_line(void **state) {
    (void)state;
    static const char *const files[][2] = {{"plain.csv", "number,x\n1"},
                                           {"quoted.csv", "number,x\n1,\""},
                                           {"lines.jsonl", "{\"number\": 1, \"x\": \""}};
    static char text[4 << 20];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_dataset *dataset = open_three_records();
        recmap_annotation *annotation;
        int count = 0;
        recmap_annotation_options options = {RECMAP_ANNOTATION_OPTIONS_VERSION, cancel_later,
                                             &count};
        memset(text, 'a', sizeof text);
        memcpy(text, files[i][1], strlen(files[i][1]));
        file_write(files[i][0], text, sizeof text);
        ASSERT_OK(recmap_annotation_create(&annotation, dataset, &options, &error), &error);
        assert_int_equal(recmap_annotation_add_file(annotation, "x", files[i][0], RECMAP_KEY_NUMBER,
                                                    NULL, &error),
                         RECMAP_CANCELLED);
        assert_string_equal(error.message, "cancelled");
        recmap_annotation_destroy(annotation);
        recmap_dataset_close(dataset);
    }
}

static int cancel_wait(const recmap_progress *progress, void *context) {
    *(int *)context += progress->is_waiting;
    return progress->is_waiting;
}

static void test_annotations_exclude_each_other(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records();
    recmap_annotation *annotation = annotate(dataset), *other = NULL;
    int wait_count = 0;
    recmap_annotation_options options = {RECMAP_ANNOTATION_OPTIONS_VERSION, cancel_wait,
                                         &wait_count};
    assert_int_equal(recmap_annotation_create(&other, dataset, &options, &error), RECMAP_CANCELLED);
    assert_int_equal(wait_count, 1);
    assert_null(other);
    recmap_annotation_destroy(annotation);
    recmap_annotation_destroy(annotate(dataset));
    recmap_dataset_close(dataset);
}

/* A plain build takes no lock. */
static void test_index_that_is_replaced_meanwhile(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records();
    recmap_annotation *annotation = annotate(dataset);
    add_column(annotation);
    add_tens(annotation);
    recmap_dataset_close(open_three_records());
    assert_int_equal(recmap_annotation_finish(annotation, &error), RECMAP_MISMATCH);
    assert_string_equal(error.message, "another build replaced the index meanwhile");
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    assert_int_equal(column_count(), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(rows_become_a_column),
        TEST(floats_are_read_as_float64_but_not_the_reverse),
        TEST(a_column_like_another_keeps_its_mark),
        TEST(records_without_a_value),
        TEST(after_an_error_nothing_is_published),
        TEST(cancelled_within_a_line),
        TEST(annotations_exclude_each_other),
        TEST(index_that_is_replaced_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
