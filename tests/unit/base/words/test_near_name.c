/* Near names: distances, and which names are near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/words/near_name.h"

static size_t distance(const char *a, const char *b) {
    size_t there = near_name_distance(a, strlen(a), b, strlen(b));
    assert_int_equal(near_name_distance(b, strlen(b), a, strlen(a)), there);
    return there;
}

static bool are_near(const char *a, const char *b) {
    return distance(a, b) != SIZE_MAX;
}

static void test_distances_count_mistakes(void **state) {
    (void)state;
    assert_int_equal(distance("", ""), 0);
    assert_true(distance("", "a") == SIZE_MAX);
    assert_int_equal(distance("label", "label"), 0);
    assert_int_equal(distance("LABEL", "label"), 0);
    assert_int_equal(distance("label", "labels"), 1);
    assert_int_equal(distance("label", "xlabel"), 1);
    assert_int_equal(distance("label", "lbel"), 1);
    assert_int_equal(distance("label", "lobel"), 1);
    assert_int_equal(distance("label", "lable"), 1);
    assert_int_equal(distance("LABEL", "alble"), 2);
    assert_int_equal(distance("kittenkitten", "sittingkitten"), 3);
    assert_int_equal(distance("a[", "a{"), 1); /* not letters */
}

static void test_long_names_are_compared_up_to_a_limit(void **state) {
    (void)state;
    char name[NEAR_NAME_MAX + 2];
    memset(name, 'a', sizeof name);
    assert_int_equal(near_name_distance(name, NEAR_NAME_MAX, name, NEAR_NAME_MAX), 0);
    assert_int_equal(near_name_distance(name, NEAR_NAME_MAX, name, NEAR_NAME_MAX - 9), 9);
    assert_true(near_name_distance(name, NEAR_NAME_MAX + 1, name, NEAR_NAME_MAX) == SIZE_MAX);
    assert_true(near_name_distance(name, NEAR_NAME_MAX + 1, name, 1) == SIZE_MAX);
    assert_true(near_name_distance(name, 1, name, NEAR_NAME_MAX + 1) == SIZE_MAX);
}

static void test_names_with_one_mistake_are_near(void **state) {
    (void)state;
    assert_true(are_near("label", "lable"));
    assert_true(are_near("label", "labels"));
    assert_false(are_near("image", "images/encoded"));
    assert_true(are_near("info", "ifno"));
    assert_true(are_near("id", "ids"));
    assert_false(are_near("id", "label"));
    assert_false(are_near("weight", "label"));
    assert_false(are_near("", "abc"));
    assert_false(are_near("a", "b"));
    assert_true(are_near("a", "ab"));
    assert_false(are_near("kitten", "sitting"));
}

static const char *nearest(const char *wanted, const char *const *names, size_t count) {
    struct near_name near = NEAR_NAME_INIT;
    for (size_t i = 0; i < count; i++)
        near_name_offer(&near, wanted, strlen(wanted), names[i], strlen(names[i]));
    return near.name;
}

static void test_the_first_of_the_nearest_names(void **state) {
    (void)state;
    static const char *const names[] = {"scores", "Score", "score", "label"};
    assert_ptr_equal(nearest("score", names, 4), names[1]);
    assert_ptr_equal(nearest("scoress", names, 4), names[0]);
    assert_ptr_equal(nearest("lable", names, 4), names[3]);
    assert_null(nearest("weight", names, 4));
    assert_null(nearest("score", names, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances_count_mistakes),
                                       cmocka_unit_test(test_long_names_are_compared_up_to_a_limit),
                                       cmocka_unit_test(test_names_with_one_mistake_are_near),
                                       cmocka_unit_test(test_the_first_of_the_nearest_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
