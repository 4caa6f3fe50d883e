/* Building records. The expected bytes are libprotobuf's own (Python's protobuf, deterministic),
 * and protobuf-c's packing of sorted maps. */
#include <recmap/example_builder.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse/example/building.h"
#include "unit/parse/example/canonical.h"
#include "unit/parse/example/random_example.h"

#define BYTES(text)                                                                                \
    { (const uint8_t *)(text), sizeof(text) - 1 }
#define COUNT(array) (sizeof(array) / sizeof *(array))

static recmap_example_builder *create(void) {
    recmap_example_builder *builder = NULL;
    assert_int_equal(recmap_example_builder_create(&builder, NULL), RECMAP_OK);
    return builder;
}

static void check_finish(recmap_example_builder *builder, const char *hex) {
    const uint8_t *data = NULL;
    size_t size = 0;
    struct message expected = {.size = 0};
    put_hex(&expected, hex);
    assert_int_equal(recmap_example_builder_finish(&data, &size, builder, NULL), RECMAP_OK);
    assert_non_null(data);
    assert_int_equal(size, expected.size);
    assert_memory_equal(data, expected.data, size);
}

static void ok(recmap_status status) {
    assert_int_equal(status, RECMAP_OK);
}

/* The same record is built three times with one builder, which must not depend on what it built
 * before. */
static void test_a_builder_can_be_used_again(void **state) {
    (void)state;
    static const int64_t label[] = {3, -1, 300};
    static const float lab[] = {1.5f, -0.0f};
    static const recmap_bytes texts[] = {{NULL, 0}, BYTES("xy")};
    recmap_example_builder *builder = create();
    for (int round = 0; round < 3; round++) {
        recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
        ok(recmap_example_builder_add_unset(builder, "\xc3\xa9", NULL));
        ok(recmap_example_builder_add_int64(builder, "label", label, COUNT(label), NULL));
        ok(recmap_example_builder_add_float(builder, "lab", lab, COUNT(lab), NULL));
        ok(recmap_example_builder_add_bytes(builder, "", texts, COUNT(texts), NULL));
        ok(recmap_example_builder_add_int64(builder, "none", NULL, 0, NULL));
        ok(recmap_example_builder_add_float(builder, "f", NULL, 0, NULL));
        ok(recmap_example_builder_add_bytes(builder, "b", NULL, 0, NULL));
        check_finish(builder,
                     "0a650a0c0a0012080a060a000a0278790a070a016212020a000a070a0166120212000a130a"
                     "036c6162120c120a0a080000c03f000000800a1a0a056c6162656c12111a0f0a0d03ffffff"
                     "ffffffffffff01ac020a0a0a046e6f6e6512021a000a060a02c3a91200");
    }
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
    check_finish(builder, "");
    recmap_example_builder_destroy(builder);
    recmap_example_builder_destroy(NULL);
}

static void test_sequence_examples_are_built(void **state) {
    (void)state;
    static const recmap_bytes id[] = {BYTES("r")}, words[] = {{NULL, 0}, BYTES("q")};
    recmap_example_builder *builder = create();
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
    ok(recmap_example_builder_begin_list(builder, "t", NULL));
    ok(recmap_example_builder_add_int64(builder, NULL, (const int64_t[]){1, 2}, 2, NULL));
    recmap_example_builder_end_list(builder);
    recmap_example_builder_end_list(builder);
    ok(recmap_example_builder_add_bytes(builder, "id", id, 1, NULL));
    ok(recmap_example_builder_begin_list(builder, "a", NULL));
    ok(recmap_example_builder_add_bytes(builder, "any name", words, 2, NULL));
    recmap_example_builder_end_list(builder);
    ok(recmap_example_builder_begin_list(builder, "t", NULL)); /* the builder is still usable */
    ok(recmap_example_builder_add_unset(builder, "\xff", NULL));
    ok(recmap_example_builder_add_float(builder, NULL, NULL, 0, NULL));
    recmap_example_builder_end_list(builder);
    ok(recmap_example_builder_begin_list(builder, "", NULL)); /* and this is open at the end */
    check_finish(builder,
                 "0a0d0a0b0a02696412050a030a0172122b0a040a0012000a0e0a016112090a070a050a000a0171"
                 "0a130a0174120e0a061a040a0201020a000a021200");
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
    ok(recmap_example_builder_begin_list(builder, "a", NULL));
    check_finish(builder, "12070a050a01611200");
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
    check_finish(builder, "");
    recmap_example_builder_destroy(builder);
}

static void test_a_name_added_again_is_replaced(void **state) {
    (void)state;
    recmap_example_builder *builder = create();
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
    ok(recmap_example_builder_add_int64(builder, "k", (const int64_t[]){1}, 1, NULL));
    ok(recmap_example_builder_add_unset(builder, "j", NULL));
    ok(recmap_example_builder_add_unset(builder, "k", NULL));
    ok(recmap_example_builder_add_int64(builder, "k", (const int64_t[]){13}, 1, NULL));
    check_finish(builder, "0a130a050a016a12000a0a0a016b12051a030a010d");
    recmap_example_builder_destroy(builder);
}

static void check_error(recmap_status status, const recmap_error *error, const char *message) {
    assert_int_equal(status, RECMAP_INVALID);
    assert_int_equal(error->status, RECMAP_INVALID);
    assert_string_equal(error->message, message);
}

/* Each call that is out of order or has a bad name is refused with its message, and the record
 * under construction stays valid. */
static void test_calls_out_of_order_are_refused(void **state) {
    (void)state;
    const uint8_t *data = NULL;
    size_t size = 7;
    recmap_error e = RECMAP_ERROR_INIT;
    recmap_example_builder *builder = create();
    check_error(recmap_example_builder_add_unset(builder, "k", &e), &e, "no record was begun");
    check_error(recmap_example_builder_begin_list(builder, "k", &e), &e, "no record was begun");
    check_error(recmap_example_builder_finish(&data, &size, builder, &e), &e,
                "no record was begun");
    assert_true(!data && size == 7);
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
    ok(recmap_example_builder_add_unset(builder, "j", &e));
    check_error(recmap_example_builder_add_unset(builder, NULL, &e), &e, "a feature needs a name");
    check_error(recmap_example_builder_add_int64(builder, "k\xff", NULL, 0, &e), &e,
                "feature name 'k\xff' is not UTF-8");
    check_error(recmap_example_builder_begin_list(builder, "k", &e), &e,
                "an Example has no feature lists");
    check_finish(builder, "0a070a050a016a1200");
    check_error(recmap_example_builder_finish(&data, &size, builder, &e), &e,
                "no record was begun");
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
    ok(recmap_example_builder_begin_list(builder, "t", &e));
    check_error(recmap_example_builder_begin_list(builder, "u", &e), &e,
                "a feature list is begun within another");
    check_error(recmap_example_builder_begin_list(builder, "\xff", &e), &e,
                "feature name '\xff' is not UTF-8");
    check_finish(builder, "12070a050a01741200");
    recmap_example_builder_destroy(builder);
}

/* One call of a random record. */
struct operation {
    unsigned kind; /* 0 unset, 1 int64, 2 float, 3 bytes, 4 begin_list, 5 end_list */
    char name[4];
    size_t count;
    int64_t int64s[8];
    float floats[8];
    recmap_bytes bytes[8];
};

static struct operation random_operation(struct random_state *random, bool is_sequence) {
    static const uint8_t any[300] = {1, 2, 3};
    struct operation op = {.kind = (unsigned)draw_below(random, is_sequence ? 6 : 4)};
    op.name[0] = (char)('a' + draw_below(random, 3));
    op.name[1] = draw_below(random, 2) ? 'b' : 0;
    op.count = (size_t)draw_below(random, 9);
    for (size_t i = 0; i < op.count; i++) {
        uint64_t bits = random_next(random) >> draw_below(random, 64);
        uint32_t half = (uint32_t)bits;
        op.int64s[i] = (int64_t)bits;
        memcpy(&op.floats[i], &half, 4);
        op.bytes[i] = (recmap_bytes){any, (size_t)draw_below(random, i ? 9 : sizeof any)};
    }
    return op;
}

static recmap_status run(recmap_example_builder *builder, const struct operation *op) {
    switch (op->kind) {
    case 0: return recmap_example_builder_add_unset(builder, op->name, NULL);
    case 1: return recmap_example_builder_add_int64(builder, op->name, op->int64s, op->count, NULL);
    case 2: return recmap_example_builder_add_float(builder, op->name, op->floats, op->count, NULL);
    case 3: return recmap_example_builder_add_bytes(builder, op->name, op->bytes, op->count, NULL);
    case 4:
        recmap_example_builder_end_list(builder);
        return recmap_example_builder_begin_list(builder, op->name, NULL);
    default: recmap_example_builder_end_list(builder); return RECMAP_OK;
    }
}

static void run_all(recmap_example_builder *builder, const struct operation *ops, size_t count,
                    recmap_message message) {
    recmap_example_builder_begin(builder, message);
    for (size_t i = 0; i < count; i++) ok(run(builder, &ops[i]));
}

/* protobuf-c reads what was built, sorts it, and writes it: the same bytes. So they are in order,
 * and nothing in them could be shorter. That they say what was added is what the model is for. */
static void test_random_records_are_canonical(void **state) {
    (void)state;
    struct random_state random = {11};
    recmap_example_builder *builder = create();
    for (unsigned round = 0; round < 20000; round++) {
        struct operation ops[12];
        size_t count = (size_t)draw_below(&random, 13), size, expected_size;
        bool is_sequence = round % 2;
        const uint8_t *data;
        uint8_t *expected;
        for (size_t i = 0; i < count; i++) ops[i] = random_operation(&random, is_sequence);
        run_all(builder, ops, count,
                is_sequence ? RECMAP_MESSAGE_SEQUENCE_EXAMPLE : RECMAP_MESSAGE_EXAMPLE);
        ok(recmap_example_builder_finish(&data, &size, builder, NULL));
        assert_true(canonical(&expected, &expected_size, data, size));
        assert_int_equal(size, expected_size);
        assert_memory_equal(data, expected, size);
        free(expected);
    }
    recmap_example_builder_destroy(builder);
}

static void put_float(struct message *message, float value) {
    uint32_t bits;
    uint8_t bytes[4];
    memcpy(&bits, &value, sizeof bits);
    store32(bytes, bits);
    put_raw(message, bytes, sizeof bytes);
}

/* What was added, written in the plainest way: entries in the order in which they came, for
 * protobuf-c to sort. Lists are put together here. */
static void put_model_feature(struct message *out, uint32_t field, const struct operation *op) {
    struct message packed = {.size = 0}, list = {.size = 0}, feature = {.size = 0};
    for (size_t i = 0; i < op->count; i++) {
        if (op->kind == 1) put_varint(&packed, (uint64_t)op->int64s[i]);
        if (op->kind == 2) put_float(&packed, op->floats[i]);
        if (op->kind == 3) put_bytes(&list, 1, op->bytes[i].data, op->bytes[i].size);
    }
    if (packed.size) put_sub(&list, 1, &packed);
    static const uint32_t fields[] = {0, 3, 2, 1};
    if (op->kind) put_sub(&feature, fields[op->kind], &list);
    put_sub(out, field, &feature);
}

static void put_model_entry(struct message *out, const char *name, const struct message *value) {
    struct message entry = {.size = 0};
    put_bytes(&entry, 1, name, strlen(name));
    put_raw(&entry, value->data, value->size);
    put_sub(out, 1, &entry);
}

/* The steps that `name` has got when all is done. */
static void put_model_list(struct message *out, const struct operation *ops, size_t count,
                           const char *name) {
    struct message list = {.size = 0}, value = {.size = 0};
    const char *open = NULL;
    bool is_there = false;
    for (size_t i = 0; i < count; i++) {
        if (ops[i].kind == 4) open = ops[i].name;
        if (ops[i].kind == 5) open = NULL;
        bool is_here = open && !strcmp(open, name);
        is_there |= is_here;
        if (is_here && ops[i].kind < 4) put_model_feature(&list, 1, &ops[i]);
    }
    put_sub(&value, 2, &list);
    if (is_there) put_model_entry(out, name, &value);
}

static void put_model(struct message *out, const struct operation *ops, size_t count) {
    static const char *const names[] = {"a", "b", "c", "ab", "bb", "cb"};
    struct message features = {.size = 0}, lists = {.size = 0};
    bool is_open = false;
    for (size_t i = 0; i < count; i++) {
        if (ops[i].kind > 3) is_open = ops[i].kind == 4;
        if (is_open || ops[i].kind > 3) continue;
        struct message value = {.size = 0};
        put_model_feature(&value, 2, &ops[i]);
        put_model_entry(&features, ops[i].name, &value);
    }
    for (size_t i = 0; i < COUNT(names); i++) put_model_list(&lists, ops, count, names[i]);
    if (features.size) put_sub(out, 1, &features);
    if (lists.size) put_sub(out, 2, &lists);
}

/* A random sequence of calls builds a record. Its bytes must equal the canonical form of a simple
 * model of the same calls. */
static void test_random_records_say_what_was_added(void **state) {
    (void)state;
    struct random_state random = {12};
    recmap_example_builder *builder = create();
    for (unsigned round = 0; round < 3000; round++) {
        struct operation ops[20];
        size_t count = (size_t)draw_below(&random, 21), size, expected_size;
        const uint8_t *data;
        uint8_t *expected;
        struct message model = {.size = 0};
        for (size_t i = 0; i < count; i++) ops[i] = random_operation(&random, true);
        run_all(builder, ops, count, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
        ok(recmap_example_builder_finish(&data, &size, builder, NULL));
        put_model(&model, ops, count);
        assert_true(canonical(&expected, &expected_size, model.data, model.size));
        assert_int_equal(size, expected_size);
        assert_memory_equal(data, expected, size);
        free(expected);
    }
    recmap_example_builder_destroy(builder);
}

/* With a limit of a few hundred bytes: refused additions would have exceeded it, accepted ones do
 * not, and a refused addition leaves no bytes in the builder. */
static void test_the_limit_is_exact(void **state) {
    (void)state;
    struct random_state random = {13};
    recmap_example_builder *limited = create(), *free_one = create();
    unsigned refused = 0;
    for (unsigned round = 0; round < 3000; round++) {
        struct operation ops[24];
        size_t kept = 0, size, free_size;
        const uint8_t *data, *free_data;
        limited->size_limit = draw_below(&random, 500);
        recmap_example_builder_begin(limited, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
        for (unsigned i = 0; i < COUNT(ops); i++) {
            ops[kept] = random_operation(&random, true);
            recmap_status status = run(limited, &ops[kept]);
            bool is_refused = status == RECMAP_INVALID;
            run_all(free_one, ops, kept + 1, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
            ok(recmap_example_builder_finish(&free_data, &free_size, free_one, NULL));
            assert_true(is_refused == (free_size > limited->size_limit));
            /* A list that was refused ended the one before. */
            if (is_refused && ops[kept].kind == 4) ops[kept++].kind = 5;
            else if (!is_refused) kept++;
            refused += is_refused;
        }
        run_all(free_one, ops, kept, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
        ok(recmap_example_builder_finish(&free_data, &free_size, free_one, NULL));
        ok(recmap_example_builder_finish(&data, &size, limited, NULL));
        assert_int_equal(size, free_size);
        assert_memory_equal(data, free_data, size);
    }
    assert_true(refused > 3000);
    recmap_example_builder_destroy(limited);
    recmap_example_builder_destroy(free_one);
}

/* Sizes that no memory holds are refused before anything is touched. */
static void test_the_limit_of_2_gib(void **state) {
    (void)state;
    static const uint8_t byte;
    recmap_error e = RECMAP_ERROR_INIT;
    recmap_example_builder *builder = create();
    recmap_bytes huge[] = {{&byte, INT32_MAX}, {&byte, SIZE_MAX}, {&byte, SIZE_MAX / 2 + 2}};
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
    ok(recmap_example_builder_add_unset(builder, "j", &e));
    for (size_t first = 0; first < 3; first++)
        check_error(recmap_example_builder_add_bytes(builder, "k", huge + first, 3 - first, &e), &e,
                    "a record is limited to 2147483647 bytes");
    check_error(recmap_example_builder_add_float(builder, "k", (const float *)(const void *)huge,
                                                 (size_t)1 << 29, &e),
                &e, "a record is limited to 2147483647 bytes");
    check_finish(builder, "0a070a050a016a1200");
    recmap_example_builder_destroy(builder);
}

/* Many names, each of them twice, in an order that no sort likes. */
static void test_many_names_are_sorted(void **state) {
    (void)state;
    enum { NAMES = 20000 };
    recmap_example_builder *builder = create();
    const uint8_t *data;
    size_t size, expected_size = 0;
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
    for (unsigned i = 0; i < 2 * NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%05u", (unsigned)((uint64_t)i * 7919 % NAMES));
        int64_t value = i >= NAMES;
        ok(recmap_example_builder_add_int64(builder, name, &value, 1, NULL));
    }
    ok(recmap_example_builder_finish(&data, &size, builder, NULL));
    const uint8_t *cursor = data + 4;
    for (unsigned i = 0; i < NAMES; i++, cursor += 16, expected_size += 16) {
        char entry[17];
        snprintf(entry, sizeof entry, "\x0a\x0e\x0a\x05%05u\x12\x05\x1a\x03\x0a\x01\x01", i);
        assert_memory_equal(cursor, entry, 16);
    }
    assert_int_equal(size, expected_size + 4);
    recmap_example_builder_destroy(builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_builder_can_be_used_again),
        cmocka_unit_test(test_sequence_examples_are_built),
        cmocka_unit_test(test_a_name_added_again_is_replaced),
        cmocka_unit_test(test_calls_out_of_order_are_refused),
        cmocka_unit_test(test_random_records_are_canonical),
        cmocka_unit_test(test_random_records_say_what_was_added),
        cmocka_unit_test(test_the_limit_is_exact),
        cmocka_unit_test(test_the_limit_of_2_gib),
        cmocka_unit_test(test_many_names_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
