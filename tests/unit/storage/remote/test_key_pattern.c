/* Patterns of keys: which keys match, and which folders may contain one that does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "storage/remote/key_pattern.h"

static bool call(bool (*function)(char *, char *), const char *pattern, const char *key) {
    char pattern_copy[64], key_copy[64];
    assert_true(strlen(pattern) < sizeof pattern_copy && strlen(key) < sizeof key_copy);
    memcpy(pattern_copy, pattern, strlen(pattern) + 1);
    memcpy(key_copy, key, strlen(key) + 1);
    bool result = function(pattern_copy, key_copy);
    assert_string_equal(pattern_copy, pattern);
    assert_string_equal(key_copy, key);
    return result;
}

static bool matches(const char *pattern, const char *key) {
    return call(key_pattern_matches, pattern, key);
}

static bool may_contain(const char *pattern, const char *folder) {
    return call(key_pattern_may_contain, pattern, folder);
}

static void test_keys(void **state) {
    (void)state;
    assert_true(matches("a/*.x", "a/b.x"));
    assert_false(matches("a/*.x", "a/b/c.x"));
    assert_false(matches("a/*.x", "a/.x"));
    assert_true(matches("**/c.x", "c.x"));
    assert_true(matches("**/c.x", "a/b/c.x"));
    assert_true(matches("a/**/b/*", "a/x/y/b/c"));
    assert_false(matches("a/**/b/*", "a/x/y/c"));
    assert_false(matches("a/*", "a"));
    assert_true(matches("a/**/", "a/b") && matches("a/**/", "a/b/c.x"));
    assert_false(matches("a/**/", "b/c") || matches("a/**/", "a/.b/c.x"));
    assert_false(matches("a/**/b/", "a/b"));
    assert_true(may_contain("a/**/", "a/b/c"));
}

static void test_keys_below_hidden_folders(void **state) {
    (void)state;
    assert_false(matches("a/**/c.x", "a/.b/c.x"));
    assert_false(matches("a/**/c.x", "a/b/.b/c.x"));
    assert_true(matches("a/.b/**/c.x", "a/.b/b/c.x"));
    assert_true(matches("a/**/.b/*", "a/b/.b/c.x"));
}

static void test_stars_at_the_end(void **state) {
    (void)state;
    assert_true(matches("**", "a"));
    assert_true(matches("a/**", "a/b"));
    assert_true(matches("a/**", "a/b/c/d"));
    assert_true(matches("a/.b/**", "a/.b/c"));
    assert_false(matches("a/**", "b/c"));
    assert_false(matches("a/**", "a/.b"));
    assert_false(matches("a/**", "a/.b/c"));
    assert_false(matches("a/b**", "a/b/c")); /* these are two wildcards in a name */
}

static void test_flat(void **state) {
    (void)state;
    assert_true(key_pattern_is_flat(""));
    assert_true(key_pattern_is_flat("a/b/"));
    assert_true(key_pattern_is_flat("a/*.x"));
    assert_true(key_pattern_is_flat("a/b**"));
    assert_false(key_pattern_is_flat("a*/b"));
    assert_false(key_pattern_is_flat("**/b"));
    assert_false(key_pattern_is_flat("a/**"));
    assert_false(key_pattern_is_flat("**"));
}

static void test_folders(void **state) {
    (void)state;
    assert_true(may_contain("a/*/c.x", "a"));
    assert_true(may_contain("a/*/c.x", "a/b"));
    assert_false(may_contain("a/*/c.x", "a/b/c"));
    assert_false(may_contain("a/*/c.x", "b"));
    assert_false(may_contain("a/*.x", "a/b"));
    assert_true(may_contain("a/**/c.x", "a/b/c/d"));
    assert_false(may_contain("a/**/c.x", "b"));
    assert_false(may_contain("*", "a"));
    assert_true(may_contain("a/**", "a/b/c"));
    assert_false(may_contain("a/**", "b"));
    assert_false(may_contain("a/**", "a/b/.c/d"));
    assert_false(may_contain("a/**/c.x", "a/b/.c/d"));
    assert_true(may_contain("a/**/.c/*.x", "a/b/.c"));
    assert_false(may_contain("a/**/.c/*.x", "a/b/.c/d"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_keys_below_hidden_folders),
        cmocka_unit_test(test_stars_at_the_end),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
