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

#include "unit/example/build.h"
#include "unit/example/random_example.h"

static recmap_schema *create(void) {
    recmap_schema *schema = NULL;
    assert_int_equal(recmap_schema_create(&schema, NULL), RECMAP_OK);
    return schema;
}

static void add(recmap_schema *schema, const char *hex) {
    message m;
    m.size = 0;
    put_hex(&m, hex);
    uint8_t *data = copy_exact(m.data, m.size);
    assert_int_equal(recmap_schema_add(schema, data, m.size, NULL), RECMAP_OK);
    memset(data, 0xee, m.size); /* nothing of it is kept */
    free(data);
}

static void check_json(const recmap_schema *schema, const char *expected) {
    recmap_text text = RECMAP_TEXT_INIT;
    assert_int_equal(recmap_schema_to_json(&text, schema, NULL), RECMAP_OK);
    assert_string_equal(text.data, expected);
    recmap_text_free(&text);
}

static void check_feature(const recmap_schema *schema, size_t index, const char *name,
                          const char *kind, double share, uint64_t least, uint64_t most) {
    recmap_schema_feature feature = recmap_schema_get_feature(schema, index);
    assert_string_equal(feature.name, name);
    assert_int_equal(feature.name_size, strlen(name));
    assert_string_equal(feature.kind, kind);
    assert_true(feature.share == share);
    assert_int_equal(feature.min_length, least);
    assert_int_equal(feature.max_length, most);
}

static void test_empty(void **state) {
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
    assert_int_equal(recmap_schema_record_count(schema), 3);
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
               "{\"j\":{\"kind\":\"int64\",\"share\":0.25,\"min_length\":0,\"max_length\":0},"
               "\"k\":{\"kind\":\"int64\",\"share\":0.5,\"min_length\":2,\"max_length\":4},"
               "\"u\":{\"kind\":\"unset\",\"share\":0.0,\"min_length\":0,\"max_length\":0}}");
    /* k in two kinds; u set at last; and bytes that are no Example count too. */
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

/* Any UTF-8 is a name: a NUL within, nothing at all, the beginning of another. */
static void test_odd_names(void **state) {
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
static void test_many_names(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    recmap_schema *schema = create();
    random_state random = {7};
    for (unsigned i = 0; i < COUNT; i++) {
        message m, features;
        char name[32];
        m.size = features.size = 0;
        snprintf(name, sizeof name, "%llx", (unsigned long long)(i * UINT64_C(0x9e3779b97f4a7c15)));
        put_int64s(&features, name, &(int64_t){1}, 1);
        put_sub(&m, 1, &features);
        assert_int_equal(recmap_schema_add(schema, m.data, m.size, NULL), RECMAP_OK);
        if (random_below(&random, 100) == 0) recmap_schema_get_feature(schema, 0);
    }
    assert_int_equal(recmap_schema_feature_count(schema), COUNT);
    for (size_t i = 1; i < COUNT; i++)
        assert_true(strcmp(recmap_schema_get_feature(schema, i - 1).name,
                           recmap_schema_get_feature(schema, i).name) < 0);
    recmap_schema_destroy(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_kinds_shares_and_lengths),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_many_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
