/* Records by id: of features and of a callback; ids that repeat, that are absent, that hash alike.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/features.h"
#include "support/shards/oracle.h"

/* The id is the payload up to a colon; "#" and digits is a number; an empty one means no id. */
static recmap_status lift(const recmap_record *record, recmap_value *id, recmap_value *columns,
                          size_t column_count, char *message, size_t message_capacity,
                          void *context) {
    (void)context;
    (void)columns;
    (void)column_count;
    (void)message;
    (void)message_capacity;
    const uint8_t *colon = record->size ? memchr(record->data, ':', record->size) : NULL;
    if (!colon || !id) return RECMAP_OK;
    size_t size = (size_t)(colon - record->data);
    if (size && record->data[0] == '#') {
        *id = int64_value(strtoll((const char *)record->data + 1, NULL, 10));
        return RECMAP_OK;
    }
    id->type = RECMAP_TYPE_BYTES;
    id->as.bytes.data = record->data;
    id->as.bytes.size = size;
    return RECMAP_OK;
}

static void index_lines(const char *const *lines, size_t count) {
    struct buffer shard = BUFFER_INIT;
    for (size_t i = 0; i < count; i++) oracle_add_record(&shard, lines[i], strlen(lines[i]));
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "line";
    options.lift = lift;
    index_bytes("set.rmx", &options, "shard", &shard);
    buffer_deinit(&shard);
}

static void assert_found(recmap_dataset *dataset, const recmap_value *id, const uint64_t *due,
                         size_t due_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t numbers[8] = {99, 99, 99, 99, 99, 99, 99, 99}, first = 99;
    size_t count = 99;
    for (size_t capacity = 0; capacity < 8; capacity++) {
        ASSERT_OK(recmap_dataset_find_all(numbers, capacity, &count, dataset, id, &error), &error);
        assert_int_equal(count, due_count);
        for (size_t i = 0; i < capacity && i < count; i++) assert_int_equal(numbers[i], due[i]);
        for (size_t i = capacity; i < 8; i++) assert_int_equal(numbers[i], 99);
    }
    recmap_status status = recmap_dataset_find(&first, dataset, id, &error);
    assert_int_equal(status, due_count ? RECMAP_OK : RECMAP_NOT_FOUND);
    assert_int_equal(first, due_count ? due[0] : 99);
}

/* Ids are texts or numbers, some of them duplicates or empty. A text and a number of the same
 * digits are different ids. */
static void test_ids_of_callback(void **state) {
    (void)state;
    const char *lines[] = {"a:1",    "b:2",    "no id", "#7:x", "a:3",
                           ":empty", "7:text", "#-7:y", ":two"};
    index_lines(lines, 9);
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.lift = lift;
    recmap_dataset *dataset = dataset_open("set.rmx", &options);
    assert_int_equal(recmap_dataset_get_info(dataset)->id_count, 8);
    recmap_value a = text_value("a"), b = text_value("b"), text7 = text_value("7");
    recmap_value empty = text_value(""), seven = int64_value(7), minus = int64_value(-7);
    recmap_value none = text_value("c"), eight = int64_value(8);
    assert_found(dataset, &a, (uint64_t[]){0, 4}, 2);
    assert_found(dataset, &b, (uint64_t[]){1}, 1);
    assert_found(dataset, &seven, (uint64_t[]){3}, 1);
    assert_found(dataset, &text7, (uint64_t[]){6}, 1);
    assert_found(dataset, &minus, (uint64_t[]){7}, 1);
    assert_found(dataset, &empty, (uint64_t[]){5, 8}, 2);
    assert_found(dataset, &none, NULL, 0);
    assert_found(dataset, &eight, NULL, 0);
    recmap_dataset_close(dataset);
}

static void assert_cannot_find(const recmap_dataset_options *options, const recmap_value *id,
                               const char *message) {
    recmap_dataset *dataset = dataset_open("set.rmx", options);
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t number = 99;
    size_t count = 99;
    assert_int_equal(recmap_dataset_find(&number, dataset, id, &error), RECMAP_INVALID);
    assert_non_null(strstr(error.message, message));
    assert_int_equal(recmap_dataset_find_all(NULL, 0, &count, dataset, id, &error), RECMAP_INVALID);
    assert_int_equal(number, 99);
    assert_int_equal(count, 99);
    recmap_dataset_close(dataset);
}

static void test_what_cannot_be_found(void **state) {
    (void)state;
    const char *lines[] = {"a:1"};
    recmap_value a = text_value("a"), odd = {.type = RECMAP_TYPE_FLOAT};
    index_lines(lines, 1);
    assert_cannot_find(NULL, &a, "read by a callback");
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.lift = lift;
    assert_cannot_find(&options, &odd, "BYTES or INT64");
    struct buffer shard = BUFFER_INIT;
    oracle_add_record(&shard, "a:1", 3);
    index_bytes("set.rmx", NULL, "shard", &shard);
    assert_cannot_find(&options, &a, "has no ids");
    buffer_deinit(&shard);
}

/* The error of an id that is not found names the id, even if it is not text. */
static void test_not_found_names_id(void **state) {
    (void)state;
    const char *lines[] = {"a:1"};
    index_lines(lines, 1);
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.lift = lift;
    recmap_dataset *dataset = dataset_open("set.rmx", &options);
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t number;
    recmap_value id = text_value("img-000000042");
    assert_int_equal(recmap_dataset_find(&number, dataset, &id, &error), RECMAP_NOT_FOUND);
    assert_non_null(strstr(error.message, "img-000000042"));
    id = int64_value(INT64_MIN);
    assert_int_equal(recmap_dataset_find(&number, dataset, &id, &error), RECMAP_NOT_FOUND);
    assert_non_null(strstr(error.message, "-9223372036854775808"));
    uint8_t *binary = must_realloc(NULL, 3000);
    memset(binary, 0x80, 3000);
    id.type = RECMAP_TYPE_BYTES;
    id.as.bytes.data = binary;
    id.as.bytes.size = 3000;
    assert_int_equal(recmap_dataset_find(&number, dataset, &id, &error), RECMAP_NOT_FOUND);
    id.as.bytes.data = NULL;
    id.as.bytes.size = 0;
    assert_int_equal(recmap_dataset_find(&number, dataset, &id, &error), RECMAP_NOT_FOUND);
    free(binary);
    recmap_dataset_close(dataset);
}

/* Ids that all are one: more of them than a chunk of pairs holds. */
static void test_one_id_for_all(void **state) {
    (void)state;
    enum { MANY = 140000 };
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < MANY; i++) oracle_add_record(&shard, i % 10000 ? "same:" : "rare:", 5);
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "line";
    options.lift = lift;
    index_bytes("set.rmx", &options, "shard", &shard);
    recmap_dataset_options opening = RECMAP_DATASET_OPTIONS_INIT;
    opening.lift = lift;
    recmap_dataset *dataset = dataset_open("set.rmx", &opening);
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t *numbers = must_realloc(NULL, MANY * sizeof *numbers), first;
    size_t count;
    recmap_value same = text_value("same"), rare = text_value("rare");
    ASSERT_OK(recmap_dataset_find_all(numbers, MANY, &count, dataset, &same, &error), &error);
    assert_int_equal(count, MANY - 14);
    for (size_t i = 1; i < count; i++) assert_true(numbers[i - 1] < numbers[i]);
    ASSERT_OK(recmap_dataset_find(&first, dataset, &same, &error), &error);
    assert_int_equal(first, 1);
    ASSERT_OK(recmap_dataset_find_all(numbers, MANY, &count, dataset, &rare, &error), &error);
    assert_int_equal(count, 14);
    for (size_t i = 0; i < count; i++) assert_int_equal(numbers[i], i * 10000);
    free(numbers);
    recmap_dataset_close(dataset);
    buffer_deinit(&shard);
}

/* Every record says that it is somebody else. */
static recmap_status extract_other(const recmap_record *record, recmap_value *id,
                                   recmap_value *columns, size_t column_count, char *message,
                                   size_t message_capacity, void *context) {
    (void)context;
    (void)record;
    (void)columns;
    (void)column_count;
    (void)message;
    (void)message_capacity;
    *id = text_value("other");
    return RECMAP_OK;
}

/* The hash alone finds nothing: the id is compared in the record. */
static void test_same_hash_other_id(void **state) {
    (void)state;
    const char *lines[] = {SAME_HASH ":1", SAME_HASH ":2", OF_SAME_HASH ":3"};
    index_lines(lines, 3);
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.lift = lift;
    recmap_dataset *dataset = dataset_open("set.rmx", &options);
    recmap_value one = text_value(SAME_HASH), other = text_value(OF_SAME_HASH);
    assert_found(dataset, &one, (uint64_t[]){0, 1}, 2);
    assert_found(dataset, &other, (uint64_t[]){2}, 1);
    recmap_dataset_close(dataset);
}

/* The index has the id, but its record has another one: the shard is not the indexed one. */
static void test_record_with_another_id(void **state) {
    (void)state;
    const char *lines[] = {"a:1", "b:2", "other:3"};
    index_lines(lines, 3);
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.lift = extract_other;
    recmap_dataset *dataset = dataset_open("set.rmx", &options);
    recmap_value b = text_value("b"), other = text_value("other"), ids[] = {other, b};
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t number = 99;
    size_t count = 99;
    int64_t positions[2];
    assert_int_equal(recmap_dataset_find(&number, dataset, &b, &error), RECMAP_STALE);
    assert_string_equal(error.path, "shard");
    assert_int_equal(error.record, 1);
    assert_non_null(strstr(error.message, "another id than in the index"));
    assert_int_equal(recmap_dataset_find_all(&number, 1, &count, dataset, &b, &error),
                     RECMAP_STALE);
    assert_int_equal(recmap_dataset_find_many(positions, dataset, ids, 2, NULL, NULL, &error),
                     RECMAP_STALE);
    assert_int_equal(error.record, 1);
    assert_found(dataset, &other, (uint64_t[]){2}, 1);
    recmap_dataset_close(dataset);
}

/* A record that is damaged where its id is to be read is an error, not "not found". */
static void test_damaged_record_of_id(void **state) {
    (void)state;
    const char *lines[] = {"a:1", "b:2"};
    index_lines(lines, 2);
    file_alter("shard", 19 + 13, "z", 1);
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.lift = lift;
    recmap_dataset *dataset = dataset_open("set.rmx", &options);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_value a = text_value("a"), b = text_value("b");
    uint64_t number;
    ASSERT_OK(recmap_dataset_find(&number, dataset, &a, &error), &error);
    assert_int_equal(recmap_dataset_find(&number, dataset, &b, &error), RECMAP_CORRUPT);
    assert_int_equal(error.record, 1);
    assert_string_equal(error.path, "shard");
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(ids_of_callback),      TEST(what_cannot_be_found),   TEST(not_found_names_id),
        TEST(same_hash_other_id),   TEST(record_with_another_id), TEST(one_id_for_all),
        TEST(damaged_record_of_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
