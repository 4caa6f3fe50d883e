/* Records of other kinds are recognised, and Examples are not taken for them. */
#include "parse/example/foreign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/example.h>

#include "parse/example/tensor_proto.h"
#include "unit/parse/example/build.h"
#include "unit/parse/example/random_example.h"

static const char *name_of(const struct message *message) {
    struct foreign foreign = {NULL, NULL};
    uint8_t *data = copy_exact(message->data, message->size);
    bool is_found = foreign_find(&foreign, data, message->size);
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_example_check(data, message->size, &error),
                     is_found ? RECMAP_CORRUPT : RECMAP_OK);
    free(data);
    if (!is_found) return NULL;
    assert_true(strlen(foreign.advice) > 0);
    assert_string_equal(error.advice, foreign.advice);
    return foreign.name;
}

static const char *name_of_hex(const char *hex) {
    struct message message;
    message.size = 0;
    put_hex(&message, hex);
    return name_of(&message);
}

/* {"age": [13]} */
#define EXAMPLE "0a0e0a0c0a0361676512051a030a010d"

static void test_known_kinds_are_named(void **state) {
    (void)state;
    static const char list[] = "an ExampleListWithContext (ELWC)";
    assert_string_equal(name_of_hex("09000000000000f83f10032a03616263"), "an event of TensorBoard");
    assert_string_equal(name_of_hex("1f8b0800000000000003"), "a gzip stream");
    assert_string_equal(name_of_hex("08011208120208031202080222080000803f00000040"),
                        "a tensor that tf.io.serialize_tensor wrote");
    assert_string_equal(name_of_hex("0a10" EXAMPLE), list);
    assert_string_equal(name_of_hex("0a10" EXAMPLE "0a10" EXAMPLE), list);
    assert_string_equal(name_of_hex("0a10" EXAMPLE "1210" EXAMPLE), list);
    assert_string_equal(name_of_hex("1801"), "a message of another type, which has no features");
    assert_string_equal(name_of_hex("0a00220161"),
                        "a message of another type, which has no features");
}

static void test_examples_are_not_foreign(void **state) {
    (void)state;
    static const char *const examples[] = {
        "",                                       /* an Example without features */
        "0a00",                                   /* the same */
        "1200",                                   /* a SequenceExample without feature lists */
        "0a001200",                               /* the same with a context */
        EXAMPLE,                                  /* plain */
        EXAMPLE "1801",                           /* with a field that is unknown */
        "0a050a030a0161",                         /* one feature, which is unset */
        "0a070a050a01611200",                     /* the same */
        "0a120a100a0a0a0361676512031a0112021a00", /* its name looks like an entry, but it has a kind
                                                   */
        "7b7d",                                   /* no protobuf */
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (name_of_hex(examples[i])) fail_msg("%s is %s", examples[i], name_of_hex(examples[i]));
}

/* Whatever the bytes are, a record that has a feature with a kind is an Example. */
static void test_records_with_a_kind_are_examples(void **state) {
    (void)state;
    static const struct oddness odd = {20, 20, 20, 0};
    struct random_state random = {3};
    for (unsigned i = 0; i < 3000; i++) {
        struct message message;
        random_example(&message, &random, &odd);
        recmap_schema *schema = NULL;
        assert_int_equal(recmap_schema_create(&schema, NULL), RECMAP_OK);
        assert_int_equal(recmap_schema_add(schema, message.data, message.size, NULL), RECMAP_OK);
        bool has_kind = false;
        for (size_t k = 0; k < recmap_schema_feature_count(schema); k++)
            has_kind |= recmap_schema_get_feature(schema, k).share > 0;
        recmap_schema_destroy(schema);
        if (has_kind) assert_null(name_of(&message));
    }
}

static void check_tensor(const char *hex, const char *expected) {
    struct message message;
    char text[TENSOR_PROTO_TEXT_SIZE];
    message.size = 0;
    put_hex(&message, hex);
    uint8_t *data = copy_exact(message.data, message.size);
    bool is_tensor = tensor_proto_describe(text, data, message.size);
    free(data);
    if (is_tensor && !expected) fail_msg("%s is %s", hex, text);
    if (!is_tensor && expected) fail_msg("%s is not %s", hex, expected);
    if (is_tensor) assert_string_equal(text, expected);
}

static void test_tensors_are_named_with_their_shape(void **state) {
    (void)state;
    check_tensor("08011208120208031202080222080000803f00000040", "float32 [3, 2]");
    check_tensor("080412001a00", "uint8 []");
    check_tensor("0807120412020801", "string [1]");
    check_tensor("08091206120408809003", "int64 [51200]");
    check_tensor("", NULL);
    check_tensor("0801", NULL);           /* no shape */
    check_tensor("080d1200", NULL);       /* no such type */
    check_tensor("08011205120208", NULL); /* cut short */
    check_tensor("08011200f20101", NULL); /* a field that no tensor has */
    check_tensor("080112020a00", NULL);   /* a shape that is none */
    /* More dimensions than the text has room for. */
    struct message shape, tensor;
    shape.size = tensor.size = 0;
    for (unsigned i = 0; i < 200; i++) put_hex(&shape, "120b08ffffffffffffffff7f");
    put_hex(&tensor, "0801");
    put_sub(&tensor, 2, &shape);
    char text[TENSOR_PROTO_TEXT_SIZE];
    (void)tensor_proto_describe(text, tensor.data, tensor.size);
}

/* The features of another message do not belong to the data set. */
static void test_schemas_ignore_foreign_records(void **state) {
    (void)state;
    recmap_schema *schema = NULL;
    struct message message;
    message.size = 0;
    put_hex(&message, "0a10" EXAMPLE "0a10" EXAMPLE);
    assert_int_equal(recmap_schema_create(&schema, NULL), RECMAP_OK);
    assert_int_equal(recmap_schema_add(schema, message.data, message.size, NULL), RECMAP_OK);
    assert_int_equal(recmap_schema_other_count(schema), 1);
    assert_int_equal(recmap_schema_feature_count(schema), 0);
    recmap_schema_destroy(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_kinds_are_named),
        cmocka_unit_test(test_examples_are_not_foreign),
        cmocka_unit_test(test_records_with_a_kind_are_examples),
        cmocka_unit_test(test_tensors_are_named_with_their_shape),
        cmocka_unit_test(test_schemas_ignore_foreign_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
