/* Words of a shell: what is quoted, and what cannot be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/shell_word.h"

static void check(const char *text, const char *expected) {
    char word[SHELL_WORD_SIZE];
    assert_int_equal(shell_word_write(word, sizeof word, text), expected != NULL);
    assert_string_equal(word, expected ? expected : "");
}

static void test_words(void **state) {
    (void)state;
    check("label", "label");
    check("a/b-c_d.e:f@1%+,=", "a/b-c_d.e:f@1%+,=");
    check("", "''");
    check("a b", "'a b'");
    check("$x", "'$x'");
    check("say \"hi\"", "'say \"hi\"'");
    check("it's", "'it'\\''s'");
    check("'", "''\\'''");
    check("é", "'é'");
    check("a`b", NULL);
    check("a\nb", NULL);
    check("a\x7f", NULL);
    check("\xc2\x9b", NULL);
}

static void test_capacity(void **state) {
    (void)state;
    char word[8];
    assert_true(shell_word_write(word, sizeof word, "1234567"));
    assert_false(shell_word_write(word, sizeof word, "12345678"));
    assert_true(shell_word_write(word, sizeof word, "1 345"));
    assert_string_equal(word, "'1 345'");
    assert_false(shell_word_write(word, sizeof word, "1 3456"));
    assert_string_equal(word, "");
    assert_true(shell_word_write(word, sizeof word, "1'"));
    assert_string_equal(word, "'1'\\'''");
    assert_false(shell_word_write(word, sizeof word, "12'"));
    assert_false(shell_word_write(word, 2, " "));
}

static void test_names(void **state) {
    (void)state;
    char word[SHELL_WORD_SIZE], name[SHELL_WORD_SIZE];
    assert_string_equal(shell_word_of_name(word, "a", "=DEFAULT"), "a=DEFAULT");
    assert_string_equal(shell_word_of_name(word, "a b", "=DEFAULT"), "'a b=DEFAULT'");
    assert_string_equal(shell_word_of_name(word, "a`b", "=DEFAULT"), "FEATURE=DEFAULT");
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    assert_string_equal(shell_word_of_name(word, name, ""), name);
    assert_string_equal(shell_word_of_name(word, name, ":DTYPE"), "FEATURE:DTYPE");
    memset(name, '\'', sizeof name - 1);
    assert_string_equal(shell_word_of_name(word, name, ""), "FEATURE");
}

#define TEST(name) cmocka_unit_test(test_##name)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(words), TEST(capacity), TEST(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
