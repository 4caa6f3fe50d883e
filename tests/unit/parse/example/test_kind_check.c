/* Records that change the kind of a feature. */
#include <recmap/example.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/example_builder.h>

static recmap_kind_check *create(void) {
    recmap_kind_check *check = NULL;
    assert_int_equal(recmap_kind_check_create(&check, NULL), RECMAP_OK);
    return check;
}

/* Adds a record from its JSON, in which ' stands for ". Nothing of it is kept. */
static void add(recmap_kind_check *check, const char *json) {
    recmap_example_builder *builder = NULL;
    char text[1024];
    const uint8_t *record = NULL;
    size_t size = 0;
    snprintf(text, sizeof text, "%s", json);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    assert_int_equal(recmap_example_builder_create(&builder, NULL), RECMAP_OK);
    assert_int_equal(
        recmap_example_builder_read_json(&record, &size, builder, text, strlen(text), NULL),
        RECMAP_OK);
    uint8_t *copy = malloc(size + 1); /* one byte more than is read, for an empty record */
    assert_non_null(copy);
    memcpy(copy, record, size);
    assert_int_equal(recmap_kind_check_add(check, copy, size, NULL), RECMAP_OK);
    free(copy);
    recmap_example_builder_destroy(builder);
}

static void expect(const recmap_kind_check *check, size_t index, const char *message,
                   uint64_t record) {
    const recmap_error *warning = recmap_kind_check_warning(check, index);
    if (!message) {
        assert_null(warning);
        return;
    }
    assert_non_null(warning);
    assert_string_equal(warning->message, message);
    assert_int_equal(warning->record, record);
}

#define INT64 "'int64List':{'value':['3']}"
#define FLOAT "'floatList':{'value':[3.5]}"
#define BYTES "'bytesList':{'value':['AA==']}"

static void test_each_feature_is_named_once(void **state) {
    (void)state;
    recmap_kind_check *check = create();
    add(check, "{}");
    add(check, "{'features':{'feature':{'a':{},'b':{" INT64 "},'c':{" BYTES "}}}}");
    add(check, "{'features':{'feature':{'a':{" FLOAT "},'c':{" FLOAT "}}}}");
    expect(check, 0, "feature 'c' has the kind float, but bytes in record 1", 2);
    expect(check, 1, NULL, 0);
    for (int i = 0; i < 3; i++)
        add(check, "{'features':{'feature':{'b':{" BYTES "},'c':{" FLOAT "}}}}");
    expect(check, 1, "feature 'b' has the kind bytes, but int64 in record 1", 3);
    expect(check, 2, NULL, 0);
    add(check, "{'features':{'feature':{'a':{" INT64 "}}}}");
    expect(check, 2, "feature 'a' has the kind int64, but float in record 2", 6);
    recmap_kind_check_destroy(check);
}

/* A list and a feature may have the same name, and the context is compared with Examples. */
static void test_contexts_and_lists_are_checked_apart(void **state) {
    (void)state;
    recmap_kind_check *check = create();
    add(check, "{'context':{'feature':{'a':{" INT64 "}}},'featureLists':{'featureList':{"
               "'a':{'feature':[{},{" FLOAT "}]},'b':{}}}}");
    expect(check, 0, NULL, 0);
    add(check, "{'features':{'feature':{'a':{" FLOAT "}}}}");
    expect(check, 0, "feature 'a' has the kind float, but int64 in record 0", 1);
    add(check, "{'featureLists':{'featureList':{'a':{'feature':[{" FLOAT "},{" INT64 "}]}"
               ",'b':{'feature':[{" BYTES "},{" INT64 "}]}}}}");
    expect(check, 1, "feature list 'a' has the kind int64, but float in record 0", 2);
    expect(check, 2, "feature list 'b' has steps of kind bytes and of kind int64", 2);
    expect(check, 3, NULL, 0);
    recmap_kind_check_destroy(check);
}

static void add_hex(recmap_kind_check *check, const char *hex) {
    uint8_t bytes[64];
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees reads past the end */
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    assert_int_equal(recmap_kind_check_add(check, exact, size, NULL), RECMAP_OK);
    free(exact);
}

/* Every prefix of a record, a name that is not UTF-8, and a field that no message has. */
static void test_other_bytes_are_counted_only(void **state) {
    (void)state;
    static const char floats[] = "0a0a0a080a0161120312" /* ... */ "0100";
    char hex[sizeof floats];
    recmap_kind_check *check = create();
    add(check, "{'features':{'feature':{'a':{" INT64 "}}}}");
    for (size_t size = 0; size + 2 < sizeof floats; size += 2) {
        memcpy(hex, floats, size);
        hex[size] = 0;
        add_hex(check, hex);
    }
    add_hex(check, "0a0f0a0d0a01ff120812060a0400000040");
    add_hex(check, "0a0f0a0d0a0161120812060a04000000402801");
    expect(check, 0, NULL, 0);
    add_hex(check, "0a0f0a0d0a0161120812060a0400000040");
    assert_non_null(recmap_kind_check_warning(check, 0));
    recmap_kind_check_destroy(check);
}

/* Fields in any order, and several kinds in a feature, of which protobuf keeps the last. */
static void test_unusual_encodings_are_read(void **state) {
    (void)state;
    recmap_kind_check *check = create();
    add_hex(check, "0a0c0a0a12051a030a01030a0161");
    add_hex(check, "0a100a0e12090a020a001a030a01030a0161");
    add_hex(check, "0a0d0a0b12060a020a001a000a0161");
    expect(check, 0, NULL, 0);
    add_hex(check, "0a100a0e12091a030a01030a020a000a0161");
    expect(check, 0, "feature 'a' has the kind bytes, but int64 in record 0", 3);
    recmap_kind_check_destroy(check);
}

/* An empty list holds nothing, whatever its kind: it neither decides the kind nor contradicts it.
 * The last record is as some writers have it: a packed field without numbers. */
static void test_empty_lists_have_no_kind(void **state) {
    (void)state;
    recmap_kind_check *check = create();
    add(check, "{'features':{'feature':{'a':{'bytesList':{}},'b':{" INT64 "}}}}");
    add(check, "{'features':{'feature':{'a':{" FLOAT "},'b':{'floatList':{}}}}}");
    add(check, "{'features':{'feature':{'a':{'int64List':{}},'b':{'bytesList':{}}}}}");
    add(check, "{'featureLists':{'featureList':{'s':{'feature':[{'bytesList':{}},{" INT64 "},"
               "{'floatList':{}}]}}}}");
    add_hex(check, "0a0b0a090a016212041a020a00");
    add_hex(check, "0a0b0a090a0161120412020a00");
    expect(check, 0, NULL, 0);
    add(check, "{'features':{'feature':{'a':{" INT64 "}}}}");
    expect(check, 0, "feature 'a' has the kind int64, but float in record 1", 6);
    recmap_kind_check_destroy(check);
}

static void test_kinds_of_many_names_are_remembered(void **state) {
    (void)state;
    recmap_kind_check *check = create();
    char json[128];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 70000; i += 7) {
            snprintf(json, sizeof json, "{'features':{'feature':{'f%d':{%s}}}}", i,
                     round ? FLOAT : INT64);
            add(check, json);
        }
    expect(check, 63, "feature 'f441' has the kind float, but int64 in record 63", 10063);
    expect(check, 64, NULL, 0);
    recmap_kind_check_destroy(check);
    recmap_kind_check_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_feature_is_named_once),
        cmocka_unit_test(test_contexts_and_lists_are_checked_apart),
        cmocka_unit_test(test_other_bytes_are_counted_only),
        cmocka_unit_test(test_unusual_encodings_are_read),
        cmocka_unit_test(test_empty_lists_have_no_kind),
        cmocka_unit_test(test_kinds_of_many_names_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
