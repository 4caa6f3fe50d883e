/* dataset_info.json of TFDS: what is read, what is refused, and the names of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/doctor/tfds_info.h"

static void read_text(struct tfds_info *info, const char *text) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = tfds_info_read(info, text, strlen(text), &error);
    if (status != RECMAP_OK) fail_msg("%s", error.message);
}

static void test_splits(void **state) {
    (void)state;
    struct tfds_info info;
    read_text(&info, "{\"name\": \"robot\", \"other\": {\"x\": [1, null]}, \"splits\": ["
                     "{\"name\": \"train\", \"shardLengths\": [\"3\", 4], \"numBytes\": \"99\"},"
                     "{\"name\": \"test\", \"filepathTemplate\": \"a/{SPLIT}_{SHARD_INDEX}\"}]}");
    assert_string_equal(info.name, "robot");
    assert_true(info.is_tfrecord);
    assert_int_equal(info.split_count, 2);
    assert_int_equal(info.splits[0].shard_count, 2);
    assert_int_equal(info.splits[0].lengths[0], 3);
    assert_int_equal(info.splits[0].lengths[1], 4);
    assert_int_equal(info.splits[0].byte_count, 99);
    assert_int_equal(info.splits[1].shard_count, 0);
    char name[64];
    tfds_info_write_file(name, sizeof name, &info, &info.splits[0], 1);
    assert_string_equal(name, "robot-train.tfrecord-00001-of-00002");
    tfds_info_write_file(name, sizeof name, &info, &info.splits[1], 7);
    assert_string_equal(name, "test_00007");
    tfds_info_write_file(name, 10, &info, &info.splits[0], 1);
    assert_string_equal(name, "robot-tra");
    tfds_info_deinit(&info);
}

static void fail_as(recmap_status status, const char *text, const char *reason) {
    struct tfds_info info;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(tfds_info_read(&info, text, strlen(text), &error), status);
    if (!strstr(error.message, reason)) fail_msg("%s: %s", text, error.message);
    tfds_info_deinit(&info);
}

static void refuse(const char *text, const char *reason) {
    fail_as(RECMAP_CORRUPT, text, reason);
}

static void test_wrong_metadata_is_refused(void **state) {
    (void)state;
    refuse("", "not JSON at byte 0");
    refuse("{\"a\": 1", "not JSON at byte 7");
    refuse("{} x", "not JSON at byte 3");
    refuse("{\"name\": 3}", "wrong: name");
    refuse("{\"name\": \"\\u0000\"}", "wrong: name");
    refuse("{\"name\": \"a\", \"splits\": 5}", "wrong: splits");
    refuse("{\"name\": \"a\", \"splits\": [{}]}", "wrong: the name of a split");
    refuse("{\"name\": \"a\", \"splits\": [{\"shardLengths\": [\"-1\"]}]}", "wrong: shardLengths");
    refuse("{\"name\": \"a\", \"splits\": [{\"shardLengths\": [\"1234567890123456789\"]}]}",
           "wrong: shardLengths");
    refuse("{\"name\": \"a\", \"splits\": [{\"numBytes\": \"\"}]}", "wrong: numBytes");
}

/* The library `datasets` writes a file of this name, with a mapping of splits and no name. */
static void test_files_of_other_programs(void **state) {
    (void)state;
    fail_as(RECMAP_UNSUPPORTED, "{}", "not metadata of TFDS");
    fail_as(RECMAP_UNSUPPORTED, "{\"splits\": []}", "not metadata of TFDS");
    fail_as(RECMAP_UNSUPPORTED,
            "{\"builder_name\": \"x\", \"splits\": {\"train\": {\"name\": \"train\"}}}",
            "not metadata of TFDS");
    fail_as(RECMAP_UNSUPPORTED, "{\"name\": \"a\", \"splits\": {}}", "not metadata of TFDS");
    refuse("{\"splits\": {]", "not JSON at byte");
}

static void test_the_last_of_equal_members_wins(void **state) {
    (void)state;
    struct tfds_info info;
    read_text(&info, "{\"name\":\"a\",\"name\":\"b\",\"splits\":[{\"name\":\"x\"}],"
                     "\"splits\":[{\"name\":\"y\",\"name\":\"z\",\"shardLengths\":[1],"
                     "\"shardLengths\":[2,3]}],\"fileFormat\":\"array_record\"}");
    assert_string_equal(info.name, "b");
    assert_false(info.is_tfrecord);
    assert_int_equal(info.split_count, 1);
    assert_string_equal(info.splits[0].name, "z");
    assert_int_equal(info.splits[0].shard_count, 2);
    tfds_info_deinit(&info);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_wrong_metadata_is_refused),
        cmocka_unit_test(test_files_of_other_programs),
        cmocka_unit_test(test_the_last_of_equal_members_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
