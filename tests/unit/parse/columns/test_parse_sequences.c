/* Feature lists that are not what a SequenceExample holds: each is refused, at its place. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/parse/columns/parse_case.h"

/* A record with one map of lists, in hex, which is not a SequenceExample. */
static void expect_no_sequence(const char *hex, const char *message_text) {
    struct message message;
    message.size = 0;
    put_hex(&message, hex);
    uint8_t *copy = copy_exact(message.data, message.size);
    const recmap_record record = {.data = copy, .size = message.size};
    assert_int_equal(parse_record(&record), RECMAP_CORRUPT);
    assert_string_equal(parsing.error.message, message_text);
    free(copy);
}

/* An asked list must be good though a later one replaces it; what is not asked for may be anything
 * but its name. */
static void test_messages_that_are_not_sequences(void **state) {
    (void)state;
    const recmap_feature lists[] = {{.name = "a", .kind = VAR, .element = I64}};
    assert_int_equal(
        parse_sequences(&parsing, NULL, 0, lists, 1, RECMAP_PARSE_RAISE, TEXTS(""), &batch),
        RECMAP_OK);
    expect_no_sequence("120e0a070a016112020a050a030a0161",
                       "not a tf.SequenceExample: feature list 'a': length reaches past the end");
    expect_no_sequence("12050a030a01ff",
                       "not a tf.SequenceExample: feature list name is not UTF-8");
    struct message message;
    message.size = 0;
    put_hex(&message, "12090a070a016212020a05"); /* the same in list 'b' */
    const recmap_record record = {.data = message.data, .size = message.size};
    assert_int_equal(parse_record(&record), RECMAP_OK);
    expect_column(&parsing, "a", "[~[]]");
}

/* Groups that nest in a step lie one level deeper than those in a feature of the context. */
static recmap_status parse_groups(size_t depth, bool is_step) {
    struct message feature, list, entry, map, m;
    feature.size = list.size = entry.size = map.size = m.size = 0;
    for (size_t i = 0; i < depth; i++) put_tag(&feature, 9, WIRE_GROUP);
    for (size_t i = 0; i < depth; i++) put_tag(&feature, 9, WIRE_GROUP_END);
    put_bytes(&entry, 1, "a", 1);
    if (is_step) put_sub(&list, 1, &feature);
    put_sub(&entry, 2, is_step ? &list : &feature);
    put_sub(&map, 1, &entry);
    put_sub(&m, is_step ? 2 : 1, &map);
    const recmap_record record = {.data = m.data, .size = m.size};
    return parse_record(&record);
}

static void test_groups_in_steps(void **state) {
    (void)state;
    const recmap_feature feature[] = {{.name = "a", .kind = VAR, .element = I64}};
    assert_int_equal(
        parse_sequences(&parsing, feature, 1, feature, 1, RECMAP_PARSE_RAISE, TEXTS(""), &batch),
        RECMAP_OK);
    assert_int_equal(parse_groups(97, false), RECMAP_OK);
    assert_int_equal(parse_groups(98, false), RECMAP_CORRUPT);
    assert_int_equal(parse_groups(96, true), RECMAP_OK);
    assert_int_equal(parse_groups(97, true), RECMAP_CORRUPT);
}

/* Every way to cut or change a SequenceExample is read or refused with a word, and in exact memory.
 */
static void test_broken_lists_are_refused_with_a_reason(void **state) {
    (void)state;
    const recmap_feature context[] = {{.name = "c", .kind = VAR, .element = STR}};
    const recmap_feature lists[] = {
        {.name = "a", .kind = SEQUENCE, .element = I64, SHAPE(2)},
        {.name = "b", .kind = VAR, .element = STR},
    };
    assert_int_equal(parse_sequences(&parsing, context, 1, lists, 2, RECMAP_PARSE_RAISE,
                                     TEXTS("c=b:x,y | a=[i:1,2][i:300,-4] b=[b:u,v][?][b:w] "
                                           "other=[f:1]"),
                                     &batch),
                     RECMAP_OK);
    const recmap_record whole = batch.records[0];
    size_t refused = 0;
    for (size_t i = 0; i < whole.size * 10; i++) {
        size_t size = i < whole.size ? i : whole.size;
        uint8_t *copy = copy_exact(whole.data, size);
        if (i >= whole.size * 2) copy[(i - 2 * whole.size) / 8] ^= (uint8_t)(1u << i % 8);
        const recmap_record record = {.data = copy, .size = size, .number = 5};
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_parser_parse(parsing.columns, parsing.parser, &record, 1,
                                                   RECMAP_PARSE_RAISE, &error);
        if (status == RECMAP_OK) {
            for (size_t j = 0; j < 3; j++)
                assert_null(
                    strstr(describe_column(recmap_columns_get(parsing.columns, j)), "BROKEN"));
        } else {
            refused++;
            assert_true(status == RECMAP_CORRUPT || status == RECMAP_FEATURE);
            assert_int_equal(error.record, 5);
            assert_true(error.offset <= size);
            assert_true(error.message[0]);
        }
        free(copy);
    }
    assert_true(refused > whole.size * 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_messages_that_are_not_sequences),
        TEST(test_groups_in_steps),
        TEST(test_broken_lists_are_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
