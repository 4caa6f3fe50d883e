/* Message types of descriptor sets, and what is refused. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <recmap/message.h>

#include "unit/parse/message/type_set.h"

static const char *const no_fields[] = {NULL};

/* Creates the type of a set, which is freed. Returns the message of the error, or NULL. */
static const char *refusal(struct wire_bytes *set, const char *name) {
    static recmap_error error;
    recmap_message_type *type = NULL;
    recmap_status status = recmap_message_type_create(&type, set->data, set->size, name, &error);
    wire_bytes_free(set);
    if (status == RECMAP_OK) recmap_message_type_release(type);
    else assert_int_equal(status, RECMAP_INVALID);
    return status == RECMAP_OK ? NULL : error.message;
}

static struct wire_bytes file_of(const char *name, const char *const *imports) {
    struct wire_bytes file = {NULL, 0, 0};
    put_text(&file, 1, name);
    for (; *imports; imports++) put_text(&file, 3, *imports);
    return file;
}

static void test_finds_fields(void **state) {
    (void)state;
    struct wire_bytes set = small_type_set();
    recmap_message_type *type;
    recmap_message_field field;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_message_type_create(&type, set.data, set.size, "Root", &error), 0);
    wire_bytes_free(&set);
    assert_string_equal(recmap_message_type_name(type), "test.Root");
    assert_int_equal(recmap_message_type_find(&field, type, "child.items.items.values", &error), 0);
    assert_string_equal(field.kind, "float");
    assert_int_equal(field.element, RECMAP_ELEMENT_FLOAT32);
    assert_int_equal(field.levels, 3);
    assert_int_equal(recmap_message_type_find(&field, type, "4.f", &error), 0);
    assert_int_equal(field.element, RECMAP_ELEMENT_UINT32);
    assert_int_equal(field.levels, 1);
    assert_int_equal(recmap_message_type_find(&field, type, "txt", &error), RECMAP_INVALID);
    assert_string_equal(error.message, "'test.Root' has no field 'txt'");
    assert_string_equal(error.advice, "did you mean 'text'?");
    assert_int_equal(recmap_message_type_find(&field, type, "4.100", &error), RECMAP_INVALID);
    assert_string_equal(error.message, "'test.Item' has no field '100'");
    assert_string_equal(error.advice,
                        "extensions are read by their number if no descriptor set is given");
    for (const char *const *path = (const char *const[]){"(test.more)", "[test.more]", NULL}; *path;
         path++) {
        assert_int_equal(recmap_message_type_find(&field, type, *path, &error), RECMAP_INVALID);
        assert_string_equal(error.advice,
                            "extensions are read by their number if no descriptor set is given");
    }
    assert_int_equal(recmap_message_type_find(&field, type, "text.a", &error), RECMAP_INVALID);
    assert_string_equal(error.message, "'text' is string and has no field 'a'");
    assert_int_equal(recmap_message_type_find(&field, type, "", &error), RECMAP_INVALID);
    recmap_message_type_release(type);
}

static void test_lists_fields(void **state) {
    (void)state;
    struct wire_bytes set = small_type_set();
    recmap_message_type *type;
    recmap_text text = RECMAP_TEXT_INIT;
    assert_int_equal(recmap_message_type_create(&type, set.data, set.size, "Item", NULL), 0);
    wire_bytes_free(&set);
    assert_int_equal(recmap_message_type_to_json(&text, type, NULL), RECMAP_OK);
    assert_string_equal(text.data, "[{\"path\":\"values\",\"kind\":\"float\",\"levels\":1},"
                                   "{\"path\":\"f\",\"kind\":\"fixed32\",\"levels\":0}]");
    recmap_text_deinit(&text);
    recmap_message_type_release(type);
}

static void test_missing_import(void **state) {
    (void)state;
    static const char *const imports[] = {"b.proto", NULL};
    struct wire_bytes set = {NULL, 0, 0}, file = file_of("a.proto", imports);
    put_message(&set, 1, &file);
    assert_string_equal(refusal(&set, "A"),
                        "'a.proto' imports 'b.proto', which the descriptor set lacks");
}

/* A cycle of three files, which a fourth imports. */
static void test_cycle_of_imports(void **state) {
    (void)state;
    static const char *const names[] = {"a.proto", "b.proto", "c.proto", "d.proto"};
    static const size_t imported[] = {1, 2, 3, 1};
    struct wire_bytes set = {NULL, 0, 0};
    for (size_t i = 0; i < 4; i++) {
        const char *imports[] = {names[imported[i]], NULL};
        struct wire_bytes file = file_of(names[i], imports);
        put_message(&set, 1, &file);
    }
    assert_string_equal(refusal(&set, "A"), "'d.proto' imports 'b.proto', which imports it again");
}

static void test_file_imports_itself(void **state) {
    (void)state;
    static const char *const imports[] = {"a.proto", NULL};
    struct wire_bytes set = {NULL, 0, 0}, file = file_of("a.proto", imports);
    put_message(&set, 1, &file);
    assert_string_equal(refusal(&set, "A"), "'a.proto' imports 'a.proto', which imports it again");
}

/* A chain of 50,000 imports is followed without recursion. */
static void test_long_chain_of_imports(void **state) {
    (void)state;
    struct wire_bytes set = {NULL, 0, 0};
    for (unsigned i = 0; i < 50000; i++) {
        char name[16], next[16];
        const char *imports[] = {next, NULL};
        snprintf(name, sizeof name, "%u", i);
        snprintf(next, sizeof next, "%u", i + 1);
        if (i == 49999) imports[0] = NULL;
        struct wire_bytes file = file_of(name, imports);
        put_message(&set, 1, &file);
    }
    assert_string_equal(refusal(&set, "A"), "the descriptor set has no message type 'A'");
}

static void test_missing_type(void **state) {
    (void)state;
    static const char *const fields[] = {"f 1 11 1 .other.Type", NULL};
    struct wire_bytes set = {NULL, 0, 0}, file = {NULL, 0, 0}, type = type_of("A", fields);
    put_text(&file, 1, "a.proto");
    put_message(&file, 4, &type);
    put_message(&set, 1, &file);
    assert_string_equal(refusal(&set, "A"),
                        "the descriptor set lacks 'other.Type', the type of 'f' in 'A'");
}

static void test_unknown_name(void **state) {
    (void)state;
    struct wire_bytes set = small_type_set();
    recmap_message_type *type;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_message_type_create(&type, set.data, set.size, "Rot", &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message, "the descriptor set has no message type 'Rot'");
    assert_string_equal(error.advice, "did you mean 'test.Root'?");
    wire_bytes_free(&set);
}

static void test_impossible_fields(void **state) {
    (void)state;
    static const char *const bad[] = {"f 0 5 1",       "f 536870912 5 1", "f 1 0 1",
                                      "f 1 19 1",      "f 1 5 1 - 1",     "f 1 5 1 - - x",
                                      "f 1 8 1 - - 1", "f.g 1 5 1",       "7 1 5 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const fields[] = {bad[i], NULL};
        struct wire_bytes set = {NULL, 0, 0}, file = {NULL, 0, 0}, type = type_of("A", fields);
        put_message(&file, 4, &type);
        put_message(&set, 1, &file);
        assert_non_null(refusal(&set, "A"));
    }
}

static struct wire_bytes nested_set(unsigned depth) {
    struct wire_bytes type = type_of("A", no_fields);
    for (unsigned i = 0; i < depth; i++) {
        struct wire_bytes outer = type_of("A", no_fields);
        put_message(&outer, 3, &type);
        type = outer;
    }
    struct wire_bytes file = {NULL, 0, 0}, set = {NULL, 0, 0};
    put_message(&file, 4, &type);
    put_message(&set, 1, &file);
    return set;
}

/* protobuf-c would read 10,000 levels recursively. */
static void test_nesting(void **state) {
    (void)state;
    struct wire_bytes shallow = nested_set(60), deep = nested_set(10000);
    assert_null(refusal(&shallow, "A.A"));
    assert_string_equal(refusal(&deep, "A"), "the message types of the descriptor set are nested "
                                             "deeper than 64 levels");
}

/* Every prefix and every changed byte of a set is read or refused. */
static void test_damaged_sets(void **state) {
    (void)state;
    struct wire_bytes set = small_type_set();
    for (size_t i = 0; i < set.size; i++) {
        recmap_message_type *type = NULL;
        if (recmap_message_type_create(&type, set.data, i, "Root", NULL) == RECMAP_OK)
            recmap_message_type_release(type);
        for (unsigned bit = 0; bit < 8; bit++) {
            type = NULL;
            set.data[i] ^= (uint8_t)(1 << bit);
            if (recmap_message_type_create(&type, set.data, set.size, "Root", NULL) == RECMAP_OK)
                recmap_message_type_release(type);
            set.data[i] ^= (uint8_t)(1 << bit);
        }
    }
    wire_bytes_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_fields),        cmocka_unit_test(test_lists_fields),
        cmocka_unit_test(test_missing_import),      cmocka_unit_test(test_cycle_of_imports),
        cmocka_unit_test(test_file_imports_itself), cmocka_unit_test(test_long_chain_of_imports),
        cmocka_unit_test(test_missing_type),        cmocka_unit_test(test_unknown_name),
        cmocka_unit_test(test_impossible_fields),   cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_damaged_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
