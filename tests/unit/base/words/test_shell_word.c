/* Words of a shell: what is quoted, what cannot be written, and how commands are split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/words/shell_word.h"

static void check(const char *text, const char *expected) {
    char word[SHELL_WORD_SIZE];
    assert_int_equal(shell_word_write(word, sizeof word, text), expected != NULL);
    assert_string_equal(word, expected ? expected : "");
}

static void test_words_are_quoted_if_needed(void **state) {
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

static void test_words_that_do_not_fit_are_refused(void **state) {
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

static void test_only_the_value_of_a_name_is_quoted(void **state) {
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

/* `expected` has a line for each word; NULL: the command is cut. */
static void check_split(const char *command, const char *expected) {
    char text[64], joined[64] = "", *words[8];
    strncpy(text, command, sizeof text - 1);
    text[sizeof text - 1] = 0;
    size_t count = shell_words_split(words, 8, text);
    if (!expected) assert_int_equal(count, SIZE_MAX);
    if (!expected) return;
    assert_true(count < 8 && !words[count]);
    for (size_t i = 0; i < count; i++) {
        strncat(joined, words[i], sizeof joined - strlen(joined) - 1);
        strncat(joined, "\n", sizeof joined - strlen(joined) - 1);
    }
    assert_string_equal(joined, expected);
}

/* As Python's shlex.split does. */
static void test_words_are_split_as_by_shlex(void **state) {
    (void)state;
    check_split("", "");
    check_split(" \t ", "");
    check_split("a", "a\n");
    check_split(" /opt/a  b\tc ", "/opt/a\nb\nc\n");
    check_split("\"/a b/c\" \"d e\" f", "/a b/c\nd e\nf\n");
    check_split("a'b c'\"d e\"f g", "ab cd ef\ng\n");
    check_split("a \"\" '' b", "a\n\n\nb\n");
    check_split("\"a\\\"b\\\\c\\d\"", "a\"b\\c\\d\n");
    check_split("'a\\b'", "a\\b\n");
    check_split("a\\ b\\\"c", "a b\"c\n");
    check_split("$HOME ~ * `id` ;|&#", "$HOME\n~\n*\n`id`\n;|&#\n");
    check_split("a \"b", NULL);
    check_split("a 'b", NULL);
    check_split("a\\", NULL);
    check_split("\"a\\\"", NULL);
    check_split("1 2 3 4 5 6 7", "1\n2\n3\n4\n5\n6\n7\n");
    check_split("1 2 3 4 5 6 7 8", NULL);
}

#define TEST(name) cmocka_unit_test(test_##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(words_are_quoted_if_needed), TEST(words_that_do_not_fit_are_refused),
        TEST(only_the_value_of_a_name_is_quoted), TEST(words_are_split_as_by_shlex)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
