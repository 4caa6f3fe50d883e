/* Messages read into columns: faults, nesting and damaged bytes. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <recmap/message.h>

#include "unit/parse/message/type_set.h"

static recmap_message_type *small_type(void) {
    struct wire_bytes set = small_type_set();
    recmap_message_type *type = NULL;
    assert_int_equal(recmap_message_type_create(&type, set.data, set.size, "Root", NULL), 0);
    wire_bytes_free(&set);
    return type;
}

static recmap_feature fixed(const char *key, recmap_element element) {
    return (recmap_feature){.name = key, .kind = RECMAP_FEATURE_FIXED_LEN, .element = element};
}

static recmap_feature list(const char *key, recmap_element element) {
    return (recmap_feature){.name = key, .kind = RECMAP_FEATURE_VAR_LEN, .element = element};
}

/* Parses one record. Returns the columns, or NULL with the error. */
static recmap_columns *parse(const recmap_feature *features, size_t count,
                             const struct wire_bytes *bytes, recmap_error *error) {
    recmap_message_type *type = small_type();
    recmap_parser *parser = NULL;
    recmap_columns *columns = NULL;
    const recmap_record record = {bytes->data, bytes->size, 3, NULL};
    recmap_status status = recmap_parser_create_message(&parser, type, features, count, error);
    recmap_message_type_release(type);
    if (status != RECMAP_OK) return NULL;
    assert_int_equal(recmap_columns_create(&columns, NULL), RECMAP_OK);
    status = recmap_parser_parse(columns, parser, &record, 1, RECMAP_PARSE_RAISE, error);
    recmap_parser_release(parser);
    if (status == RECMAP_OK) return columns;
    recmap_columns_destroy(columns);
    return NULL;
}

static void expect_error(const recmap_feature *feature, struct wire_bytes *bytes,
                         const char *message, uint64_t offset) {
    recmap_error error = RECMAP_ERROR_INIT;
    assert_null(parse(feature, 1, bytes, &error));
    assert_string_equal(error.message, message);
    assert_true(error.offset == offset);
    wire_bytes_free(bytes);
}

static void test_faults(void **state) {
    (void)state;
    recmap_feature a = fixed("a", RECMAP_ELEMENT_INT8), x = fixed("x", RECMAP_ELEMENT_UINT32);
    recmap_feature d = fixed("d", RECMAP_ELEMENT_FLOAT32), u = fixed("u", RECMAP_ELEMENT_INT64);
    struct wire_bytes bytes = {NULL, 0, 0};
    put_number(&bytes, 1, 128);
    expect_error(&a, &bytes, "field 'a': a value is 128, which int8 cannot hold", 1);
    put_number(&bytes, 6, 1);
    expect_error(&x, &bytes, "field 'x': a value is -1, which uint32 cannot hold", 1);
    put_number(&bytes, 9, UINT64_MAX);
    expect_error(&u, &bytes, "field 'u': a value is 18446744073709551615, which int64 cannot hold",
                 1);
    put_varint(&bytes, 16 << 3 | 1);
    for (int i = 0; i < 7; i++) put_varint(&bytes, i == 6 ? 0x70 : 1);
    put_varint(&bytes, 0x7f);
    expect_error(&d, &bytes, "field 'd': a value is 7.02396e+305, which float32 cannot hold", 2);
    put_varint(&bytes, 1 << 3);
    expect_error(&a, &bytes, "not a test.Root: varint runs past the end", 1);
    put_varint(&bytes, 16 << 3 | 1);
    put_varint(&bytes, 1);
    expect_error(&d, &bytes, "not a test.Root: number runs past the end", 2);
    put_varint(&bytes, 99 << 3 | 3);
    expect_error(&a, &bytes, "not a test.Root: group does not end", 2);
    put_varint(&bytes, 7);
    expect_error(&a, &bytes, "not a test.Root: field number is 0", 0);
}

static void test_counts(void **state) {
    (void)state;
    static const uint64_t three[] = {3}, shape[] = {2, 2};
    recmap_feature many = fixed("many", RECMAP_ELEMENT_INT32);
    recmap_feature values = fixed("items.values", RECMAP_ELEMENT_FLOAT32);
    struct wire_bytes bytes = {NULL, 0, 0};
    many.shape = three;
    many.dimension_count = 1;
    for (unsigned i = 0; i < 2; i++) put_number(&bytes, 2, i);
    expect_error(&many, &bytes, "field 'many': 2 values where [3] needs 3", RECMAP_NO_OFFSET);
    put_data(&bytes, 2, "\1\2\3\4", 4);
    expect_error(&many, &bytes, "field 'many': more than 3 values where [3] needs 3", 2);
    values.shape = shape;
    values.dimension_count = 2;
    struct wire_bytes item = {NULL, 0, 0};
    put_data(&item, 1, "1234567890ab", 12);
    put_message(&bytes, 4, &item);
    put_data(&item, 1, "1234", 4);
    put_message(&bytes, 4, &item);
    expect_error(&values, &bytes,
                 "field 'items.values': an element has 3 values where the shape needs 2",
                 RECMAP_NO_OFFSET);
}

/* What cannot be requested. */
static void test_refused_features(void **state) {
    (void)state;
    static const struct {
        const char *path;
        recmap_feature_kind kind;
        recmap_element element;
        const char *message;
    } cases[] = {
        {"nothing", 1, RECMAP_ELEMENT_INT32, "'test.Root' has no field 'nothing'"},
        {"items", 2, RECMAP_ELEMENT_INT32, "the field 'items' is a message"},
        {"text", 1, RECMAP_ELEMENT_INT32, "the field 'text' is string, but int32 was requested"},
        {"d", 1, RECMAP_ELEMENT_INT64, "the field 'd' is double, but int64 was requested"},
        {"many", 1, RECMAP_ELEMENT_INT64, "the path 'many' has 1 repeated field"},
        {"a", 3, RECMAP_ELEMENT_INT64, "the path 'a' has no repeated field"},
        {"items.values", 3, RECMAP_ELEMENT_FLOAT32,
         "the path 'items.values' has 2 repeated fields"},
        {"a", 6, RECMAP_ELEMENT_INT64,
         "feature 'a': messages cannot be SLICED: read whole records with VAR_LEN"},
        {"a#", 2, RECMAP_ELEMENT_INT64,
         "'a#' does not name a repeated field in another repeated field"},
        {"u", 1, RECMAP_ELEMENT_BOOL, "bool cannot hold the default of the field 'u'"},
    };
    const struct wire_bytes nothing = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_feature feature = {
            .name = cases[i].path, .kind = cases[i].kind, .element = cases[i].element};
        assert_null(parse(&feature, 1, &nothing, &error));
        assert_int_equal(error.status, RECMAP_INVALID);
        assert_string_equal(error.message, cases[i].message);
    }
}

/* A message of 10,000 levels is read along the path and skipped otherwise: no level is a call. */
static void test_deep_messages(void **state) {
    (void)state;
    struct wire_bytes bytes = {NULL, 0, 0};
    for (int i = 0; i < 10000; i++) {
        struct wire_bytes outer = {NULL, 0, 0};
        put_number(&outer, 1, 5);
        put_message(&outer, 3, &bytes);
        bytes = outer;
    }
    recmap_feature features[] = {fixed("a", RECMAP_ELEMENT_INT32),
                                 fixed("child.child.a", RECMAP_ELEMENT_INT64)};
    recmap_columns *columns = parse(features, 2, &bytes, NULL);
    assert_non_null(columns);
    assert_int_equal(*(const int64_t *)recmap_columns_get(columns, 1)->values, 5);
    recmap_columns_destroy(columns);
    recmap_message_type *type = small_type();
    recmap_text text = RECMAP_TEXT_INIT;
    const recmap_record record = {bytes.data, bytes.size, 8, NULL};
    assert_int_equal(recmap_message_to_json(&text, type, &record, NULL), RECMAP_OK);
    assert_memory_equal(text.data, "{\"number\":8,\"base64\":\"", 22);
    recmap_text_deinit(&text);
    recmap_message_type_release(type);
    wire_bytes_free(&bytes);
}

/* A path of 101 parts is refused, and one of 100 parts is not. */
static void make_path(char *path, size_t depth) {
    static const char step[] = "child.";
    for (size_t i = 0; i < depth; i++) memcpy(path + i * (sizeof step - 1), step, sizeof step - 1);
    memcpy(path + depth * (sizeof step - 1), "a", 2);
}

static void test_long_paths(void **state) {
    (void)state;
    char path[8 * 101];
    const struct wire_bytes nothing = {NULL, 0, 0};
    recmap_feature feature = fixed(path, RECMAP_ELEMENT_INT32);
    make_path(path, 99);
    recmap_columns *columns = parse(&feature, 1, &nothing, NULL);
    assert_non_null(columns);
    recmap_columns_destroy(columns);
    make_path(path, 100);
    assert_null(parse(&feature, 1, &nothing, NULL));
}

static void fill(struct wire_bytes *bytes) {
    struct wire_bytes item = {NULL, 0, 0}, inner = {NULL, 0, 0};
    put_data(&inner, 1, "12345678", 8);
    put_data(&item, 1, "1234", 4);
    put_message(&item, 3, &inner);
    put_number(bytes, 1, 7);
    put_data(bytes, 2, "\1\200\1\3", 4);
    put_message(bytes, 4, &item);
    put_text(bytes, 5, "text");
    put_number(bytes, 6, 3);
    put_data(&item, 1, "12345678", 8);
    put_message(bytes, 7, &item);
    put_number(bytes, 9, 1000);
}

/* Every prefix and every changed bit of a message is read or refused, and leaves the rows beside it
 * alone. */
static void test_damaged_messages(void **state) {
    (void)state;
    recmap_feature features[] = {fixed("a", RECMAP_ELEMENT_INT32),
                                 list("many", RECMAP_ELEMENT_INT16),
                                 list("items.values", RECMAP_ELEMENT_FLOAT32),
                                 list("items.items.values", RECMAP_ELEMENT_FLOAT64),
                                 list("x", RECMAP_ELEMENT_INT64),
                                 list("y.values", RECMAP_ELEMENT_FLOAT16),
                                 fixed("text", RECMAP_ELEMENT_BYTES),
                                 fixed("d", RECMAP_ELEMENT_FLOAT64)};
    const size_t count = sizeof features / sizeof *features;
    recmap_message_type *type = small_type();
    recmap_parser *parser = NULL;
    recmap_columns *columns = NULL;
    struct wire_bytes bytes = {NULL, 0, 0}, good = {NULL, 0, 0};
    fill(&bytes);
    fill(&good);
    assert_int_equal(recmap_parser_create_message(&parser, type, features, count, NULL), 0);
    assert_int_equal(recmap_columns_create(&columns, NULL), RECMAP_OK);
    for (size_t i = 0; i < bytes.size * 9; i++) {
        size_t size = i < bytes.size * 8 ? bytes.size : i - bytes.size * 8;
        if (i < bytes.size * 8) bytes.data[i / 8] ^= (uint8_t)(1 << i % 8);
        const recmap_record records[] = {{good.data, good.size, 0, NULL},
                                         {bytes.data, size, 1, NULL},
                                         {good.data, good.size, 2, NULL}};
        assert_int_equal(
            recmap_parser_parse(columns, parser, records, 3, RECMAP_PARSE_COLLECT, NULL),
            RECMAP_OK);
        const int32_t *a = recmap_columns_get(columns, 0)->values;
        const recmap_column *many = recmap_columns_get(columns, 1);
        const int64_t *rows = many->offsets[0];
        assert_true(a[0] == 7 && a[2] == 7);
        assert_true(rows[1] == 3 && rows[3] - rows[2] == 3);
        assert_int_equal(((const int16_t *)many->values)[rows[2] + 1], 128);
        if (i < bytes.size * 8) bytes.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    recmap_columns_destroy(columns);
    recmap_parser_release(parser);
    recmap_message_type_release(type);
    wire_bytes_free(&bytes);
    wire_bytes_free(&good);
}

static void test_lift(void **state) {
    (void)state;
    recmap_message_type *type = small_type();
    recmap_message_lift *lift = NULL;
    recmap_feature id = fixed("text", RECMAP_ELEMENT_BYTES);
    recmap_feature columns[] = {fixed("u", RECMAP_ELEMENT_UINT64),
                                fixed("d", RECMAP_ELEMENT_FLOAT64),
                                fixed("text", RECMAP_ELEMENT_BYTES)};
    recmap_value value, values[3];
    char message[200] = "";
    struct wire_bytes bytes = {NULL, 0, 0};
    put_text(&bytes, 5, "first");
    put_text(&bytes, 5, "name");
    assert_int_equal(recmap_message_lift_create(&lift, type, &id, columns, 3, NULL), RECMAP_OK);
    assert_string_equal(recmap_message_lift_id_name(lift), "test.Root:text");
    recmap_record record = {bytes.data, bytes.size, RECMAP_NO_RECORD, NULL};
    assert_int_equal(
        recmap_message_lift_read(&record, &value, values, 3, message, sizeof message, lift), 0);
    assert_int_equal(value.type, RECMAP_TYPE_BYTES);
    assert_memory_equal(value.as.bytes.data, "name", 4);
    assert_true(values[0].type == RECMAP_TYPE_INT64 && values[0].as.int64 == 7);
    assert_true(values[1].type == RECMAP_TYPE_FLOAT64 && values[1].as.float64 == 0);
    assert_int_equal(values[2].as.bytes.size, 4);
    record.size = 0;
    assert_int_equal(
        recmap_message_lift_read(&record, &value, values, 3, message, sizeof message, lift), 0);
    assert_int_equal(value.type, RECMAP_TYPE_NONE);
    record.size = 3;
    assert_int_equal(
        recmap_message_lift_read(&record, &value, values, 3, message, sizeof message, lift),
        RECMAP_FEATURE);
    assert_string_equal(message,
                        "not a test.Root: length reaches past the end at byte 1 of its data");
    recmap_message_lift_destroy(lift);
    columns[1] = list("many", RECMAP_ELEMENT_INT32);
    assert_int_equal(recmap_message_lift_create(&lift, type, &id, columns, 3, NULL),
                     RECMAP_INVALID);
    recmap_message_type_release(type);
    wire_bytes_free(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_refused_features),
        cmocka_unit_test(test_deep_messages),
        cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_damaged_messages),
        cmocka_unit_test(test_lift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
