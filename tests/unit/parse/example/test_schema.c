/* Schemas: which features records hold, of which kinds and lengths. */
#include <recmap/example.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/example/build.h"
#include "unit/parse/example/random_example.h"

static recmap_schema *create(void) {
    recmap_schema *schema = NULL;
    assert_int_equal(recmap_schema_create(&schema, NULL), RECMAP_OK);
    return schema;
}

static void add(recmap_schema *schema, const char *hex) {
    struct message message;
    message.size = 0;
    put_hex(&message, hex);
    uint8_t *data = copy_exact(message.data, message.size);
    assert_int_equal(recmap_schema_add(schema, data, message.size, NULL), RECMAP_OK);
    memset(data, 0xee, message.size); /* nothing of it is kept */
    free(data);
}

static void check_json(const recmap_schema *schema, const char *expected) {
    recmap_text text = RECMAP_TEXT_INIT;
    assert_int_equal(recmap_schema_to_json(&text, schema, NULL), RECMAP_OK);
    assert_string_equal(text.data, expected);
    recmap_text_deinit(&text);
}

static void check_feature(const recmap_schema *schema, size_t index, const char *name,
                          const char *kind, double share, uint64_t min, uint64_t max) {
    recmap_schema_feature feature = recmap_schema_get_feature(schema, index);
    assert_string_equal(feature.name, name);
    assert_int_equal(feature.name_size, strlen(name));
    assert_string_equal(feature.kind, kind);
    assert_true(feature.share == share);
    assert_int_equal(feature.min_length, min);
    assert_int_equal(feature.max_length, max);
}

static void test_an_empty_schema_has_no_features(void **state) {
    (void)state;
    recmap_schema *schema = create();
    check_json(schema, "{}");
    assert_int_equal(recmap_schema_feature_count(schema), 0);
    assert_int_equal(recmap_schema_record_count(schema), 0);
    add(schema, ""); /* an Example of no features */
    add(schema, "ff");
    check_json(schema, "{}");
    assert_int_equal(recmap_schema_record_count(schema), 2);
    assert_int_equal(recmap_schema_other_count(schema), 1);
    add(schema, "1200"); /* a SequenceExample of no lists */
    add(schema, "1001"); /* neither */
    assert_int_equal(recmap_schema_record_count(schema), 4);
    assert_int_equal(recmap_schema_sequence_count(schema), 1);
    assert_int_equal(recmap_schema_other_count(schema), 2);
    recmap_schema_destroy(schema);
    recmap_schema_destroy(NULL);
}

static void test_kinds_shares_and_lengths(void **state) {
    (void)state;
    recmap_schema *schema = create();
    add(schema, "0a0d0a0b0a016b12061a040a02"
                "0102");                               /* k: int64 x2 */
    add(schema, "0a0b0a090a016a12041a020a00");         /* j: int64 x0 */
    add(schema, "0a070a050a01751200");                 /* u: unset */
    add(schema, "0a0f0a0d0a016b12081a060a040102030a"); /* k: int64 x4 */
    check_json(schema,
               "{\"j\":{\"kind\":\"int64\",\"share\":0.25,\"min_length\":0,\"max_length\":0,"
               "\"unset_share\":0.0,\"missing_share\":0.75,\"shape\":null},"
               "\"k\":{\"kind\":\"int64\",\"share\":0.5,\"min_length\":2,\"max_length\":4,"
               "\"unset_share\":0.0,\"missing_share\":0.5,\"shape\":null,\"min\":1,\"max\":10},"
               "\"u\":{\"kind\":\"unset\",\"share\":0.0,\"min_length\":0,\"max_length\":0,"
               "\"unset_share\":0.25,\"missing_share\":0.75,\"shape\":null}}");
    /* k in two kinds; u set in the last record; and bytes that are not an Example count too. */
    add(schema, "0a0e0a0c0a016b120712050a03c3a9c3");
    add(schema, "0a0e0a0c0a016b12070a050a03c3a9c3");
    add(schema, "0a0b0a090a0175120412020a00");
    add(schema, "ff");
    assert_int_equal(recmap_schema_feature_count(schema), 3);
    check_feature(schema, 0, "j", "int64", 1.0 / 8, 0, 0);
    check_feature(schema, 1, "k", "mixed", 3.0 / 8, 1, 4);
    check_feature(schema, 2, "u", "float", 1.0 / 8, 0, 0);
    recmap_schema_destroy(schema);
}

/* An empty list holds nothing, so its kind does not contradict the kind of values. */
static void test_empty_lists_of_another_kind(void **state) {
    (void)state;
    static const char int64[] = "0a0c0a0a0a016b12051a030a0101", bytes[] = "0a090a070a016b12020a00";
    static const char floats[] = "0a090a070a016b12021200", packed[] = "0a0b0a090a016b120412020a00";
    recmap_schema *schema = create();
    add(schema, floats);
    check_feature(schema, 0, "k", "float", 1, 0, 0);
    add(schema, packed);
    check_feature(schema, 0, "k", "float", 1, 0, 0);
    add(schema, bytes);
    check_feature(schema, 0, "k", "unset", 1, 0, 0);
    add(schema, int64);
    check_feature(schema, 0, "k", "int64", 1, 0, 1);
    add(schema, floats);
    check_feature(schema, 0, "k", "int64", 1, 0, 1);
    recmap_schema_destroy(schema);
}

/* An Example of one feature. */
static void add_feature(recmap_schema *schema, const char *name, uint32_t kind,
                        const struct message *list) {
    struct message message = {.size = 0}, features = {.size = 0};
    put_entry(&features, name, kind, list);
    put_sub(&message, 1, &features);
    assert_int_equal(recmap_schema_add(schema, message.data, message.size, NULL), RECMAP_OK);
}

static void put_float(struct message *packed, float value) {
    uint32_t bits;
    uint8_t bytes[4];
    memcpy(&bits, &value, sizeof bits);
    store32(bytes, bits);
    put_raw(packed, bytes, sizeof bytes);
}

static void test_ranges_of_int64s(void **state) {
    (void)state;
    static const int64_t extremes[] = {5, INT64_MIN, INT64_MAX, 0};
    recmap_schema *schema = create();
    for (size_t i = 0; i < 4; i++) {
        struct message features = {.size = 0}, m = {.size = 0};
        put_int64s(&features, "k", extremes, i + 1);
        put_sub(&m, 1, &features);
        assert_int_equal(recmap_schema_add(schema, m.data, m.size, NULL), RECMAP_OK);
        recmap_schema_feature k = recmap_schema_get_feature(schema, 0);
        assert_true(k.min_int64 == (i < 1 ? 5 : INT64_MIN));
        assert_true(k.max_int64 == (i < 2 ? 5 : INT64_MAX));
    }
    check_json(schema, "{\"k\":{\"kind\":\"int64\",\"share\":1.0,\"min_length\":1,\"max_length\":4,"
                       "\"unset_share\":0.0,\"missing_share\":0.0,\"shape\":null,"
                       "\"min\":-9223372036854775808,\"max\":9223372036854775807}}");
    assert_int_equal(recmap_schema_get_feature(schema, 0).int64_count, 10);
    recmap_schema_destroy(schema);
}

static int64_t min_of(const int64_t *values, size_t count) {
    int64_t min = values[0];
    for (size_t i = 1; i < count; i++)
        if (values[i] < min) min = values[i];
    return min;
}

static int64_t max_of(const int64_t *values, size_t count) {
    int64_t max = values[0];
    for (size_t i = 1; i < count; i++)
        if (values[i] > max) max = values[i];
    return max;
}

/* Lists of any length, whose varints take one byte to ten: each has a schema of its own. */
static void test_ranges_of_long_lists(void **state) {
    (void)state;
    enum { VALUES_MAX = 3000 };
    static int64_t values[VALUES_MAX];
    static struct message features, m;
    struct random_state random = {11};
    for (unsigned round = 0; round < 2000; round++) {
        size_t count = 1 + (size_t)draw_below(&random, round % 4 ? 40 : VALUES_MAX);
        uint64_t shift = draw_below(&random, 60);
        recmap_schema *schema = create();
        for (size_t i = 0; i < count; i++) {
            uint64_t bits = random_next(&random) >> (shift + draw_below(&random, 4));
            values[i] = draw_below(&random, 50) ? (int64_t)bits : -(int64_t)(bits >> 1);
        }
        features.size = m.size = 0;
        put_int64s(&features, "k", values, count);
        put_sub(&m, 1, &features);
        assert_int_equal(recmap_schema_add(schema, m.data, m.size, NULL), RECMAP_OK);
        recmap_schema_feature k = recmap_schema_get_feature(schema, 0);
        assert_true(k.min_int64 == min_of(values, count));
        assert_true(k.max_int64 == max_of(values, count));
        assert_int_equal(k.int64_count, count);
        recmap_schema_destroy(schema);
    }
}

/* NaN is counted but does not take part in the range; infinities do. The JSON must stay valid in
 * both cases. */
static void test_ranges_of_floats(void **state) {
    (void)state;
    static const uint32_t nan_bits = 0x7fc00001;
    recmap_schema *schema = create();
    struct message packed = {.size = 0}, list = {.size = 0};
    float nan;
    memcpy(&nan, &nan_bits, sizeof nan);
    put_float(&packed, nan);
    put_sub(&list, 1, &packed);
    add_feature(schema, "f", 2, &list);
    check_json(schema, "{\"f\":{\"kind\":\"float\",\"share\":1.0,\"min_length\":1,\"max_length\":1,"
                       "\"unset_share\":0.0,\"missing_share\":0.0,\"shape\":[],\"nan_count\":1}}");
    packed.size = list.size = 0;
    put_float(&packed, 1.5f);
    put_float(&packed, -0.25f);
    put_float(&packed, nan);
    put_float(&packed, 1e30f * 1e30f);
    put_sub(&list, 1, &packed);
    add_feature(schema, "f", 2, &list);
    check_json(schema, "{\"f\":{\"kind\":\"float\",\"share\":1.0,\"min_length\":1,\"max_length\":4,"
                       "\"unset_share\":0.0,\"missing_share\":0.0,\"shape\":null,"
                       "\"min\":-0.25,\"max\":\"Infinity\",\"nan_count\":2}}");
    assert_int_equal(recmap_schema_get_feature(schema, 0).float_count, 3);
    recmap_schema_destroy(schema);
}

static void test_sizes_of_bytes(void **state) {
    (void)state;
    recmap_schema *schema = create();
    struct message list = {.size = 0};
    put_bytes(&list, 1, "four", 4);
    put_bytes(&list, 1, "fourteen bytes", 14);
    add_feature(schema, "b", 1, &list);
    add_feature(schema, "b", 1, &list);
    check_json(schema, "{\"b\":{\"kind\":\"bytes\",\"share\":1.0,\"min_length\":2,\"max_length\":2,"
                       "\"unset_share\":0.0,\"missing_share\":0.0,\"shape\":[2],"
                       "\"min_size\":4,\"max_size\":14}}");
    recmap_schema_destroy(schema);
}

/* Fixed is what every record has, in one kind, with the same number of values, and some. */
static void check_fixed(const char *const *records, size_t count, bool is_fixed) {
    recmap_schema *schema = create();
    for (size_t i = 0; i < count; i++) add(schema, records[i]);
    assert_int_equal(recmap_schema_get_feature(schema, 0).is_fixed, is_fixed);
    recmap_schema_destroy(schema);
}

static void test_what_is_fixed(void **state) {
    (void)state;
    static const char two[] = "0a0d0a0b0a016b12061a040a020102";
    static const char one[] = "0a0c0a0a0a016b12051a030a0101";
    static const char none[] = "0a090a070a016b12021a00", unset[] = "0a070a050a016b1200";
    static const char two_bytes[] = "0a0d0a0b0a016b12060a040a000a00";
    check_fixed((const char *const[]){two, two}, 2, true);
    check_fixed((const char *const[]){one}, 1, true);
    check_fixed((const char *const[]){two, one}, 2, false);
    check_fixed((const char *const[]){two, unset}, 2, false);
    check_fixed((const char *const[]){two, ""}, 2, false);
    check_fixed((const char *const[]){two, "ff"}, 2, false);
    check_fixed((const char *const[]){two, two_bytes}, 2, false);
    check_fixed((const char *const[]){none, none}, 2, false);
    check_fixed((const char *const[]){unset}, 1, false);
}

/* Features of a context are listed as features; lists follow them, and a name may be both. */
static void test_lists_follow_the_features_of_the_context(void **state) {
    (void)state;
    recmap_schema *schema = create();
    /* Context: t. Lists: t of two steps with 2 values each, s of a step with 1 and an unset one. */
    add(schema, "0a0c0a0a0a017412051a030a0105"
                "122a0a150a01741210"
                "0a061a040a020102"
                "0a061a040a020307"
                "0a110a0173120c"
                "0a081206"
                "0a040000803f"
                "0a00");
    add(schema, "0a0c0a0a0a017412051a030a0104"); /* an Example */
    add(schema, "12070a050a01741200");           /* t with no steps */
    assert_int_equal(recmap_schema_sequence_count(schema), 2);
    assert_int_equal(recmap_schema_other_count(schema), 0);
    assert_int_equal(recmap_schema_feature_count(schema), 3);
    check_feature(schema, 0, "t", "int64", 2.0 / 3, 1, 1);
    check_feature(schema, 1, "s", "float", 1.0 / 3, 1, 1);
    check_feature(schema, 2, "t", "int64", 2.0 / 3, 2, 2);
    recmap_schema_feature s = recmap_schema_get_feature(schema, 1);
    recmap_schema_feature t = recmap_schema_get_feature(schema, 2);
    assert_true(s.is_list && !s.is_fixed && s.unset_share == 0.5 && s.min_steps == 2);
    assert_true(t.is_list && t.is_fixed && t.min_steps == 0 && t.max_steps == 2);
    assert_true(t.min_int64 == 1 && t.max_int64 == 7 && t.missing_share == 1.0 / 3);
    add(schema, ""); /* shares with a finite decimal form */
    check_json(
        schema,
        "{\"s\":{\"list\":{\"kind\":\"float\",\"share\":0.25,\"min_steps\":2,\"max_steps\":2,"
        "\"min_length\":1,\"max_length\":1,\"unset_share\":0.5,\"missing_share\":0.75,"
        "\"shape\":null,\"min\":1.0,\"max\":1.0,\"nan_count\":0}},"
        "\"t\":{\"kind\":\"int64\",\"share\":0.5,\"min_length\":1,\"max_length\":1,"
        "\"unset_share\":0.0,\"missing_share\":0.5,\"shape\":null,\"min\":4,\"max\":5,"
        "\"list\":{\"kind\":\"int64\",\"share\":0.5,\"min_steps\":0,\"max_steps\":2,"
        "\"min_length\":2,\"max_length\":2,\"unset_share\":0.0,\"missing_share\":0.5,"
        "\"shape\":[2],\"min\":1,\"max\":7}}}");
    /* A sequence with a field that it does not know: counted as other, features and lists too. */
    add(schema, "12070a050a017412001801");
    assert_int_equal(recmap_schema_sequence_count(schema), 3);
    assert_int_equal(recmap_schema_other_count(schema), 1);
    assert_true(recmap_schema_get_feature(schema, 2).share == 3.0 / 5);
    recmap_schema_destroy(schema);
}

/* Any UTF-8 is a name: a NUL within, nothing at all, the beginning of another. */
static void test_any_utf8_is_a_name(void **state) {
    (void)state;
    recmap_schema *schema = create();
    add(schema, "0a0e0a0c0a036b006a12051a030a0101"); /* k NUL j */
    add(schema, "0a0c0a0a0a016b12051a030a0101");     /* k */
    add(schema, "0a0b0a090a0012051a030a0101");       /* "" */
    assert_int_equal(recmap_schema_feature_count(schema), 3);
    check_feature(schema, 0, "", "int64", 1.0 / 3, 1, 1);
    check_feature(schema, 1, "k", "int64", 1.0 / 3, 1, 1);
    recmap_schema_feature odd = recmap_schema_get_feature(schema, 2);
    assert_int_equal(odd.name_size, 3);
    assert_memory_equal(odd.name, "k\0j", 4);
    recmap_schema_destroy(schema);
}

/* Many names in any order come out sorted, however often one looks in between. */
static void test_many_names_are_sorted(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    recmap_schema *schema = create();
    struct random_state random = {7};
    for (unsigned i = 0; i < COUNT; i++) {
        struct message message, features;
        char name[32];
        message.size = features.size = 0;
        snprintf(name, sizeof name, "%llx", (unsigned long long)(i * UINT64_C(0x9e3779b97f4a7c15)));
        put_int64s(&features, name, &(int64_t){1}, 1);
        put_sub(&message, 1, &features);
        assert_int_equal(recmap_schema_add(schema, message.data, message.size, NULL), RECMAP_OK);
        if (draw_below(&random, 100) == 0) recmap_schema_get_feature(schema, 0);
    }
    assert_int_equal(recmap_schema_feature_count(schema), COUNT);
    for (size_t i = 1; i < COUNT; i++)
        assert_true(strcmp(recmap_schema_get_feature(schema, i - 1).name,
                           recmap_schema_get_feature(schema, i).name) < 0);
    recmap_schema_destroy(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_schema_has_no_features),
        cmocka_unit_test(test_kinds_shares_and_lengths),
        cmocka_unit_test(test_empty_lists_of_another_kind),
        cmocka_unit_test(test_ranges_of_int64s),
        cmocka_unit_test(test_ranges_of_long_lists),
        cmocka_unit_test(test_ranges_of_floats),
        cmocka_unit_test(test_sizes_of_bytes),
        cmocka_unit_test(test_what_is_fixed),
        cmocka_unit_test(test_lists_follow_the_features_of_the_context),
        cmocka_unit_test(test_any_utf8_is_a_name),
        cmocka_unit_test(test_many_names_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
