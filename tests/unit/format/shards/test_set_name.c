/* Sets of shards: NAME@N[END], and the names that it stands for. */
#include "format/shards/set_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_shard(const char *path, unsigned number, const char *expected) {
    struct set_name set;
    assert_true(set_name_parse(&set, path));
    char *shard = set_name_format(&set, number);
    assert_string_equal(shard, expected);
    free(shard);
}

static void test_short_names_stand_for_all_shards(void **state) {
    (void)state;
    check_shard("a/train@12.tfrecord.gz", 3, "a/train-00003-of-00012.tfrecord.gz");
    check_shard("x@y@2", 0, "x@y-00000-of-00002");
    check_shard("x@1000000", 999999, "x-999999-of-1000000");
    static const char *const others[] = {"x",   "x@",   "x@0",   "x@02",
                                         "@2",  "a/@2", "x@2/y", "x@1000001",
                                         "x@a", "",     "x@-2",  "x@99999999999999999999"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct set_name set;
        assert_false(set_name_parse(&set, others[i]));
    }
}

/* Each name of a set is a member of the same one, and is written as it was read. */
static void test_members_are_written_as_they_were_read(void **state) {
    (void)state;
    struct set_name set;
    struct set_member first, member;
    assert_true(set_name_parse(&set, "a-of-b/train@300.gz"));
    assert_true(set_member_parse(&first, "a-of-b/train-00000-of-00300.gz"));
    for (unsigned i = 0; i < 300; i++) {
        char *path = set_name_format(&set, i), written[64];
        assert_true(set_member_parse(&member, path));
        assert_int_equal(member.number, i);
        assert_int_equal(member.count, 300);
        assert_int_equal(member.digits, 5);
        assert_int_equal(set_member_compare_sets(&member, &first), 0);
        set_member_write(written, sizeof written, &first, i);
        assert_string_equal(written, path);
        free(path);
    }
}

static void test_names_of_no_set(void **state) {
    (void)state;
    static const char *const names[] = {"x",
                                        "x-00001",
                                        "x-00001-of-",
                                        "x-of-00004",
                                        "x-001-of-00004",
                                        "x-1-of-04",
                                        "x-0001-of-04",
                                        "x-00000-of-00000",
                                        "x-00000000-of-00000004",
                                        "x-00000-of-00004/y",
                                        ""};
    struct set_member member;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(set_member_parse(&member, names[i]));
}

/* Numbers without zeros have as many digits as they need. */
static void test_numbers_without_zeros(void **state) {
    (void)state;
    static const char *const names[] = {"x-1-of-12", "x-01-of-12", "x-12-of-12", "x-10-of-12",
                                        "x-00003-of-12"};
    struct set_member first, member;
    assert_true(set_member_parse(&first, names[0]));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char written[64];
        assert_true(set_member_parse(&member, names[i]));
        assert_int_equal(set_member_compare_sets(&member, &first), 0);
        assert_int_equal(member.stem_size, 2);
        set_member_write(written, sizeof written, &member, member.number);
        assert_string_equal(written, names[i]);
    }
    assert_true(set_member_parse(&member, "x-7-of-4"));
    assert_int_equal(member.number, 7);
}

static void test_names_of_other_sets_are_not_members(void **state) {
    (void)state;
    static const char *const names[] = {"x-0-of-3",  "x-0-of-4",    "x-00-of-04", "y-0-of-3",
                                        "xx-0-of-3", "x-0-of-3.gz", "x0-of-3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            struct set_member a, b;
            assert_true(set_member_parse(&a, names[i]));
            assert_true(set_member_parse(&b, names[j]));
            int order = set_member_compare_sets(&a, &b);
            assert_int_equal(order == 0, i == j);
            assert_int_equal(order > 0, set_member_compare_sets(&b, &a) < 0);
        }
}

/* A name that does not fit is shortened. */
static void test_names_that_do_not_fit_are_shortened(void **state) {
    (void)state;
    struct set_member member;
    char path[9];
    assert_true(set_member_parse(&member, "abc-1-of-2"));
    set_member_write(path, sizeof path, &member, 0);
    assert_string_equal(path, "abc-0-of");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_short_names_stand_for_all_shards),
                                       cmocka_unit_test(test_members_are_written_as_they_were_read),
                                       cmocka_unit_test(test_names_of_no_set),
                                       cmocka_unit_test(test_numbers_without_zeros),
                                       cmocka_unit_test(test_names_of_other_sets_are_not_members),
                                       cmocka_unit_test(test_names_that_do_not_fit_are_shortened)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
