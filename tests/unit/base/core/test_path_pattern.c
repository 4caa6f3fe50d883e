/* Patterns of paths: which match, and which cannot be used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/path_pattern.h"
#include "support/index/build.h"

static bool matches(const char *text, const char *key) {
    char copy[64], path[64];
    struct path_pattern pattern;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_true(strlen(text) < sizeof copy && strlen(key) < sizeof path);
    memcpy(copy, text, strlen(text) + 1);
    memcpy(path, key, strlen(key) + 1);
    ASSERT_OK(path_pattern_init(&pattern, copy, true, &error), &error);
    bool result = path_pattern_matches(&pattern, path);
    assert_string_equal(path, key);
    return result;
}

static void test_patterns_match_keys(void **state) {
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

static void test_patterns_without_folders_are_flat(void **state) {
    (void)state;
    assert_true(path_pattern_is_flat(""));
    assert_true(path_pattern_is_flat("a/b/"));
    assert_true(path_pattern_is_flat("a/*.x"));
    assert_true(path_pattern_is_flat("a/b**"));
    assert_false(path_pattern_is_flat("a*/b"));
    assert_false(path_pattern_is_flat("**/b"));
    assert_false(path_pattern_is_flat("a/**"));
    assert_false(path_pattern_is_flat("**"));
}

static void test_empty_components_match_only_each_other(void **state) {
    (void)state;
    assert_true(matches("a//*.x", "a//b.x") && matches("a/*/b", "a//b"));
    assert_false(matches("a//*.x", "a/b.x") || matches("a/*.x", "a//b.x"));
    char text[] = "*//b";
    struct path_pattern pattern;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(path_pattern_init(&pattern, text, false, &error), &error);
    assert_int_equal(pattern.count, 2);
}

static void test_too_many_components(void **state) {
    (void)state;
    char text[2 * 64];
    struct path_pattern pattern;
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < sizeof text; i++) text[i] = i % 2 ? '/' : '*';
    text[sizeof text - 1] = 0;
    assert_int_equal(path_pattern_init(&pattern, text, false, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "the pattern has more than 63 components");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns_match_keys),
        cmocka_unit_test(test_keys_below_hidden_folders),
        cmocka_unit_test(test_stars_at_the_end),
        cmocka_unit_test(test_patterns_without_folders_are_flat),
        cmocka_unit_test(test_empty_components_match_only_each_other),
        cmocka_unit_test(test_too_many_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
