/* The single value of a feature equals what looking it up gives. */
#include "parse/example/single_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse/example/example.h"
#include "unit/parse/example/build.h"
#include "unit/parse/example/random_example.h"

static bool read_single(recmap_value *value, const char *name, const struct message *message) {
    uint8_t *data = copy_exact(message->data, message->size);
    bool is_read = example_single_value(value, name, strlen(name), data, message->size);
    /* Only its size and type are looked at afterwards: the copy is freed. */
    if (is_read && value->type == RECMAP_TYPE_BYTES)
        value->as.bytes.data = message->data + (value->as.bytes.data - data);
    free(data);
    return is_read;
}

static struct message *make(const char *hex) {
    static struct message message;
    message.size = 0;
    put_hex(&message, hex);
    return &message;
}

static void test_single_values_of_plain_records_are_read(void **state) {
    (void)state;
    recmap_value value;
    assert_true(read_single(&value, "age", make("0a0e0a0c0a0361676512051a030a010d")));
    assert_int_equal(value.type, RECMAP_TYPE_INT64);
    assert_int_equal(value.as.int64, 13);
    assert_true(read_single(&value, "id", make("0a0f0a0d0a02696412070a050a03616263")));
    assert_int_equal(value.type, RECMAP_TYPE_BYTES);
    assert_int_equal(value.as.bytes.size, 3);
    assert_memory_equal(value.as.bytes.data, "abc", 3);
    /* Of two entries with the name, the last one counts. */
    assert_true(read_single(&value, "age",
                            make("0a1c0a0c0a0361676512051a030a010d0a0c0a0361676512051a030a010e")));
    assert_int_equal(value.as.int64, 14);
}

static void test_other_records_are_left_to_the_full_reader(void **state) {
    (void)state;
    static const char *const records[] = {
        "",                                           /* nothing */
        "0a00",                                       /* no features */
        "0a0e0a0c0a0361676612051a030a010d",           /* another name */
        "0a0e0a0c0a0361676512051a030a010d1200",       /* an unknown field */
        "0a0e0a0c0a0361676512051a030a010d0a00",       /* two messages */
        "0a0e0a0c12051a030a010d0a03616765",           /* the value before the name */
        "0a130a110a0361676512051a030a010d0a03616265", /* two names */
        "0a0f0a0d0a0361676512061a040a020d0e",         /* two values */
        "0a090a070a036167651200",                     /* no value */
        "0a0e0a0c0a0361676512051a030a010d0a",         /* cut */
        "0a0e0a0c0a0361676512051a030a01",             /* cut */
        "0a0f0a0c0a0361676512051a030a010d",           /* a wrong length */
    };
    recmap_value value;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        assert_false(read_single(&value, "age", make(records[i])));
}

static void expect_same(const recmap_value *value, const struct example_feature *feature) {
    recmap_value due = example_feature_first(feature);
    assert_int_equal(feature->count, 1);
    assert_int_equal(value->type, due.type);
    if (due.type == RECMAP_TYPE_INT64) assert_true(value->as.int64 == due.as.int64);
    if (due.type == RECMAP_TYPE_FLOAT)
        assert_memory_equal(&value->as.float32, &due.as.float32, sizeof due.as.float32);
    if (due.type != RECMAP_TYPE_BYTES) return;
    assert_ptr_equal(value->as.bytes.data, due.as.bytes.data);
    assert_int_equal(value->as.bytes.size, due.as.bytes.size);
}

/* Each name of a record gives the same value as example_lookup, or is left to it. Returns how many
 * values were read. */
static size_t check_all(const struct message *message) {
    struct example_features features = EXAMPLE_FEATURES_INIT;
    size_t read_count = 0;
    if (example_features_read(&features, message->data, message->size, NULL) == RECMAP_OK)
        for (size_t i = 0; i < features.count; i++) {
            const struct example_entry *entry = &features.entries[i];
            recmap_value value;
            if (!example_single_value(&value, (const char *)entry->name, entry->name_size,
                                      message->data, message->size))
                continue;
            expect_same(&value, &entry->feature);
            read_count++;
        }
    example_features_deinit(&features);
    return read_count;
}

static void test_single_values_agree_with_the_full_reader(void **state) {
    (void)state;
    static const struct oddness oddnesses[] = {{0}, {5, 5, 5, 0}, {50, 50, 50, 5}};
    static struct message message;
    struct random_state random = {7};
    size_t read_count = 0;
    for (int i = 0; i < 6000; i++) {
        recmap_value value;
        message.size = 0;
        random_example(&message, &random, &oddnesses[i % 3]);
        read_count += check_all(&message);
        random_damage(&message, &random);
        check_all(&message);
        (void)read_single(&value, "a", &message); /* no byte past the end is read */
    }
    assert_true(read_count > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_values_of_plain_records_are_read),
        cmocka_unit_test(test_other_records_are_left_to_the_full_reader),
        cmocka_unit_test(test_single_values_agree_with_the_full_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
