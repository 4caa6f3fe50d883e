/* Looking features up by name, what a fault says, and that no record takes long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "parse/example/example.h"
#include "unit/parse/example/build.h"
#include "unit/parse/example/random_example.h"

static struct example_names *compile(const char *const *list, size_t count) {
    struct example_names *names = NULL;
    assert_int_equal(example_names_create(&names, list, count, NULL), RECMAP_OK);
    return names;
}

/* Looks one name up in bytes given in hex. */
static struct example_feature find(const char *hex, const char *name) {
    static struct message message; /* values point into it */
    struct example_feature found = {0};
    struct example_names *names = compile(&name, 1);
    message.size = 0;
    put_hex(&message, hex);
    assert_true(example_lookup(&found, names, message.data, message.size, NULL));
    example_names_destroy(names);
    return found;
}

static void expect_int64(const struct example_feature *feature, uint64_t count, int64_t first) {
    recmap_value value = example_feature_first(feature);
    assert_true(feature->present);
    assert_int_equal(feature->kind, RECMAP_TYPE_INT64);
    assert_int_equal(feature->count, count);
    assert_int_equal(value.type, RECMAP_TYPE_INT64);
    assert_int_equal(value.as.int64, first);
}

/* What TensorFlow's own tests of its parser expect. */
static void test_lookup_agrees_with_tensorflow(void **state) {
    (void)state;
    struct example_feature found = find("0a0e0a0c0a0361676512051a030a010d", "age");
    expect_int64(&found, 1, 13);
    found = find("0a0d0a0b0a0361676512041a02080d", "age");
    expect_int64(&found, 1, 13);
    /* Value before key. */
    found = find("0a120a1012090a070a0576616c75650a036b6579", "key");
    recmap_value value = example_feature_first(&found);
    assert_int_equal(value.type, RECMAP_TYPE_BYTES);
    assert_int_equal(value.as.bytes.size, 5);
    assert_memory_equal(value.as.bytes.data, "value", 5);
    /* Concatenated serialized Examples. */
    found = find("0a0e0a0c0a0361676512051a030a01000a0e0a0c0a0361676512051a030a010f", "age");
    expect_int64(&found, 1, 15);
    static const char both[] = "0a0e0a0c0a0361676512051a030a010d"
                               "0a140a120a077a6970636f646512071a050a03cbde05";
    found = find(both, "age");
    expect_int64(&found, 1, 13);
    found = find(both, "zipcode");
    expect_int64(&found, 1, 94027);
    /* Unknown fields at the top, before and after. */
    found = find("12036162631805217878787878787878"
                 "0a0e0a0c0a0361676512051a030a010d"
                 "12056162636465120018ffffffffffffffffff01",
                 "age");
    expect_int64(&found, 1, 13);
    found = find("0a00", "age");
    assert_false(found.present);
    found = find("", "age");
    assert_false(found.present);
}

/* An Example of seven features of every kind, filled and empty. */
static void put_seven(struct message *example) {
    struct message features, list, none;
    static const int64_t ints[] = {3, 270, 86942};
    features.size = list.size = none.size = example->size = 0;
    put_hex(&features, "0a040a001200"); /* "": unset */
    put_entry(&features, "empty_bytes_list", 1, &none);
    put_entry(&features, "empty_float_list", 2, &none);
    put_entry(&features, "empty_int64_list", 3, &none);
    put_bytes(&list, 1, "bytes1", 6);
    put_bytes(&list, 1, "bytes2", 6);
    put_entry(&features, "bytes_list", 1, &list);
    list.size = 0;
    put_bytes(&list, 1, "\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
    put_entry(&features, "float_list", 2, &list);
    put_int64s(&features, "int64_list", ints, 3);
    put_sub(example, 1, &features);
}

static void test_every_kind_is_found(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool present;
        recmap_type kind;
        uint64_t count;
    } expected[] = {
        {"", true, RECMAP_TYPE_NONE, 0},
        {"empty_bytes_list", true, RECMAP_TYPE_BYTES, 0},
        {"empty_float_list", true, RECMAP_TYPE_FLOAT, 0},
        {"empty_int64_list", true, RECMAP_TYPE_INT64, 0},
        {"bytes_list", true, RECMAP_TYPE_BYTES, 2},
        {"float_list", true, RECMAP_TYPE_FLOAT, 2},
        {"int64_list", true, RECMAP_TYPE_INT64, 3},
        {"int64_lis", false, RECMAP_TYPE_NONE, 0},
        {"int64_list ", false, RECMAP_TYPE_NONE, 0},
        {"int64_List", false, RECMAP_TYPE_NONE, 0},
        {"float_list", true, RECMAP_TYPE_FLOAT, 2}, /* asked for twice */
    };
    enum { COUNT = sizeof expected / sizeof *expected };
    const char *list[COUNT];
    struct example_feature found[COUNT];
    struct message message;
    put_seven(&message);
    for (size_t i = 0; i < COUNT; i++) list[i] = expected[i].name;
    struct example_names *names = compile(list, COUNT);
    assert_int_equal(example_names_count(names), COUNT);
    assert_true(example_lookup(found, names, message.data, message.size, NULL));
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(found[i].present, expected[i].present);
        assert_int_equal(found[i].kind, expected[i].kind);
        assert_int_equal(found[i].count, expected[i].count);
        recmap_value first = example_feature_first(&found[i]);
        assert_int_equal(first.type, expected[i].count ? expected[i].kind : RECMAP_TYPE_NONE);
    }
    assert_memory_equal(example_feature_first(&found[4]).as.bytes.data, "bytes1", 6);
    assert_true(example_feature_first(&found[5]).as.float32 == 1.0f);
    assert_int_equal(example_feature_first(&found[6]).as.int64, 3);
    example_names_destroy(names);
}

/* One to four concatenated Examples, with up to 100 names and up to 5 values each: the last value
 * of a name is found, in any order of names. */
static void test_the_last_of_concatenated_examples_counts(void **state) {
    (void)state;
    enum { NAMES = 100, ROUNDS = 200 };
    static char texts[NAMES][16];
    const char *list[NAMES];
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(texts[i], sizeof texts[i], "name %.*s%zu", (int)(i % 7), "/a/b/c/", i);
        list[i] = texts[i];
    }
    struct example_names *names = compile(list, NAMES);
    struct random_state random = {6};
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct message message, features;
        struct {
            bool present;
            uint64_t count;
            int64_t first;
        } model[NAMES] = {{0}};
        message.size = 0;
        for (uint64_t parts = 1 + draw_below(&random, 4); parts > 0; parts--) {
            features.size = 0;
            for (uint64_t i = draw_below(&random, 100); i > 0; i--) {
                size_t which = (size_t)draw_below(&random, NAMES);
                int64_t values[5];
                size_t count = (size_t)draw_below(&random, 6);
                for (size_t k = 0; k < count; k++) values[k] = (int64_t)random_next(&random);
                put_int64s(&features, list[which], values, count);
                model[which].present = true;
                model[which].count = count;
                model[which].first = count ? values[0] : 0;
            }
            put_sub(&message, 1, &features);
        }
        struct example_feature found[NAMES];
        assert_true(example_lookup(found, names, message.data, message.size, NULL));
        for (size_t i = 0; i < NAMES; i++) {
            assert_int_equal(found[i].present, model[i].present);
            assert_int_equal(found[i].count, model[i].count);
            recmap_value first = example_feature_first(&found[i]);
            if (model[i].count) assert_true(first.as.int64 == model[i].first);
        }
    }
    example_names_destroy(names);
}

/* Names of all sizes, that differ in one byte only, wherever it is. */
static void test_names_that_are_alike(void **state) {
    (void)state;
    enum { LONGEST = 70 };
    for (size_t size = 1; size <= LONGEST; size++) {
        char text[LONGEST + 2], other[LONGEST + 2];
        memset(text, 'n', sizeof text);
        text[size] = 0;
        const char *name = text;
        struct example_names *names = compile(&name, 1);
        assert_int_equal(example_names_find(names, (const uint8_t *)text, size), 0);
        for (size_t at = 0; at < size; at++) {
            memcpy(other, text, sizeof other);
            other[at] = 'm';
            assert_true(example_names_find(names, (const uint8_t *)other, size) == SIZE_MAX);
        }
        assert_true(example_names_find(names, (const uint8_t *)text, size - 1) == SIZE_MAX);
        text[size] = 'n';
        assert_true(example_names_find(names, (const uint8_t *)text, size + 1) == SIZE_MAX);
        example_names_destroy(names);
    }
}

/* A name made so that its hash equals another's: the hash of 16 bytes is (h(first 8) ^ last 8) put
 * through a bijection, so what the first 8 change the last 8 can change back. */
static void test_names_that_collide(void **state) {
    (void)state;
    static const char *const name = "sixteen bytes...";
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t states[2];
    uint8_t other[16];
    memcpy(other, name, 16);
    other[3] ^= 1;
    for (int i = 0; i < 2; i++) {
        states[i] = (16 * factor ^ load64(i ? (const char *)other : name)) * factor;
        states[i] ^= states[i] >> 32;
    }
    store64(other + 8, load64(name + 8) ^ states[0] ^ states[1]);
    struct example_names *names = compile(&name, 1);
    assert_true(example_names_hash(other, 16) == example_names_hash((const uint8_t *)name, 16));
    assert_true(example_names_find(names, other, 16) == SIZE_MAX);
    example_names_destroy(names);
}

/* Repeated and empty names in the list of names: each position must refer to the first one with the
 * same name. */
static void test_repeated_names_refer_to_the_first(void **state) {
    (void)state;
    static const char *const repeated[] = {"b", "a", "b", "", "b", ""};
    struct example_names *names = compile(repeated, 6);
    assert_true(example_names_repeat(names));
    static const size_t first[] = {0, 1, 0, 3, 0, 3};
    for (size_t i = 0; i < 6; i++) assert_int_equal(example_names_first(names, i), first[i]);
    example_names_destroy(names);

    names = compile(NULL, 0);
    assert_true(example_names_find(names, (const uint8_t *)"", 0) == SIZE_MAX);
    assert_false(example_names_repeat(names));
    example_names_destroy(names);
    example_names_destroy(NULL);

    recmap_error error = RECMAP_ERROR_INIT;
    static const char *const bad[] = {"good", "caf\xe9"};
    names = NULL;
    assert_int_equal(example_names_create(&names, bad, 2, &error), RECMAP_INVALID);
    assert_null(names);
    assert_non_null(strstr(error.message, "not UTF-8"));
}

/* Where reading stopped, and why. */
static void test_faults_name_their_place(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        size_t offset;
        const char *reason;
    } cases[] = {
        {"deadbeef", 0, "tag runs past the end"},
        {"0a050a00", 1, "length reaches past the end"},
        {"0a0c0a0a0a016b12051a030a0180", 13, "varint runs past the end"},
        {"0a0c0a0a0a016b120512030a0100", 13, "packed floats are not 4 bytes each"},
        {"0a0b0a090a02fffe12031a01000a00", 6, "feature name is not UTF-8"},
        {"0a0c0a0a0a016b12051a030a010180", 14, "tag runs past the end"},
        {"0a0016", 2, "no such wire type"},
        {"0a0002", 2, "field number is 0"},
        {"0a0013", 3, "group does not end"},
        {"0a000d000000", 3, "number runs past the end"},
    };
    struct example_names *names = compile(NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message message;
        struct example_fault fault = {0};
        struct example_feature none;
        message.size = 0;
        put_hex(&message, cases[i].hex);
        assert_false(example_lookup(&none, names, message.data, message.size, &fault));
        assert_string_equal(fault.reason, cases[i].reason);
        assert_int_equal(fault.offset, cases[i].offset);
        assert_false(example_lookup(&none, names, message.data, message.size, NULL));
    }
    /* libprotobuf takes no more than an int counts; nothing is read. */
    struct example_fault fault = {0};
    struct example_feature none;
    uint8_t byte = 0;
    assert_false(example_lookup(&none, names, &byte, (size_t)INT32_MAX + 1, &fault));
    assert_string_equal(fault.reason, "an Example is limited to 2 GiB");
    assert_true(example_lookup(&none, names, NULL, 0, NULL));
    example_names_destroy(names);
}

/* `unit` so often that it fills about `size` bytes, in one field of number 1 after the other. */
static uint8_t *repeat(size_t *size, const char *unit_hex, size_t size_min, unsigned wrappings) {
    struct message unit, head;
    unit.size = 0;
    put_hex(&unit, unit_hex);
    size_t count = size_min / unit.size, inner = count * unit.size;
    uint8_t *data = malloc(inner + 64), *at = data;
    assert_non_null(data);
    size_t sizes[8], left = inner;
    for (unsigned i = wrappings; i > 0; i--) {
        sizes[i - 1] = left;
        head.size = 0;
        put_varint(&head, left);
        left += 1 + head.size;
    }
    for (unsigned i = 0; i < wrappings; i++) {
        /* Wrapped as features, entry, value, int64_list, packed. */
        static const uint8_t tags[] = {0x0a, 0x0a, 0x12, 0x1a, 0x0a};
        head.size = 0;
        put_raw(&head, &tags[i], 1);
        put_varint(&head, sizes[i]);
        memcpy(at, head.data, head.size);
        at += head.size;
    }
    for (size_t i = 0; i < count; i++, at += unit.size) memcpy(at, unit.data, unit.size);
    *size = (size_t)(at - data);
    return data;
}

/* Every byte is looked at a few times at most: each of these takes a fraction of a second, and
 * would take minutes if the work grew with the square of the size. */
static void test_no_record_takes_long(void **state) {
    (void)state;
    static const struct {
        const char *unit;
        unsigned wrappings;
    } cases[] = {
        {"0a0c0a0a0a016b12051a030a0101", 0}, /* many features messages of one name */
        {"0a0a0a016b12051a030a0101", 1},     /* many entries of one name */
        {"12051a030a0101", 2},               /* many values in one entry */
        {"12051a030a010112040a020a00", 2},   /* of kinds in turn */
        {"1a030a01011205"
         "0a0300000a",
         3},                   /* malformed near the end */
        {"1a030a0101", 3},     /* many lists in one value */
        {"1a030a01010a00", 3}, /* lists that replace each other */
        {"0a0101", 4},         /* many packed chunks */
        {"0a00", 4},           /* many empty ones */
        {"0801", 4},           /* many single values */
        {"8501", 5},           /* one packed chunk */
        {"1314", 0},           /* many groups */
        {"0a00", 1},           /* many entries without a name */
        {"1801", 2},           /* many unknown fields */
        {"0a016b", 2},         /* the name again and again */
    };
    static const char *const wanted = "k";
    struct example_names *names = compile(&wanted, 1);
    clock_t start = clock();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        uint8_t *data = repeat(&size, cases[i].unit, 4 << 20, cases[i].wrappings);
        struct example_feature found;
        struct example_features features = EXAMPLE_FEATURES_INIT;
        bool good = example_lookup(&found, names, data, size, NULL);
        assert_int_equal(example_features_read(&features, data, size, NULL),
                         good ? RECMAP_OK : RECMAP_CORRUPT);
        for (size_t k = 0; k < features.count; k++) {
            struct example_values values = example_values_begin(&features.entries[k].feature);
            recmap_value value;
            uint64_t count = 0;
            while (example_values_next(&value, &values)) count++;
            assert_true(count == features.entries[k].feature.count);
        }
        example_features_deinit(&features);
        free(data);
    }
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 60);
    example_names_destroy(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup_agrees_with_tensorflow),
        cmocka_unit_test(test_every_kind_is_found),
        cmocka_unit_test(test_the_last_of_concatenated_examples_counts),
        cmocka_unit_test(test_names_that_are_alike),
        cmocka_unit_test(test_names_that_collide),
        cmocka_unit_test(test_repeated_names_refer_to_the_first),
        cmocka_unit_test(test_faults_name_their_place),
        cmocka_unit_test(test_no_record_takes_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
