/* Replies of Google's metadata service: which tokens are accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "storage/protocol/access_token.h"

static bool reads(struct access_token *token, const char *text) {
    return access_token_read(token, text, strlen(text));
}

static void test_a_token(void **state) {
    (void)state;
    struct access_token token;
    assert_true(reads(&token, "{\"access_token\":\"ya29.a-b_c\",\"expires_in\":3599,"
                              "\"token_type\":\"Bearer\"}\n"));
    assert_string_equal(token.text, "ya29.a-b_c");
    assert_int_equal(token.lifetime_s, 3599);
    assert_true(reads(&token, "{\"x\": [{}], \"token_type\": \"Bearer\", \"access_token\": \"a\", "
                              "\"expires_in\": 18446744073709551615}"));
    assert_int_equal(token.lifetime_s, 86400);
}

static void test_what_is_not_a_token(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"access_token\":\"a\",\"expires_in\":1}",
        "{\"access_token\":\"a\",\"token_type\":\"Bearer\"}",
        "{\"expires_in\":1,\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"\",\"expires_in\":1,\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"a b\",\"expires_in\":1,\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"a\\r\\nX: y\",\"expires_in\":1,\"token_type\":\"Bearer\"}",
        "{\"access_token\":1,\"expires_in\":1,\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"a\",\"expires_in\":-1,\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"a\",\"expires_in\":0,\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"a\",\"expires_in\":1,\"token_type\":\"Basic\"}",
        "{\"access_token\":\"a\",\"expires_in\":1,\"token_type\":\"Bearer\"",
        "{\"access_token\":\"a\",\"expires_in\":1,\"token_type\":\"Bearer\"} x",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct access_token token;
        assert_false(reads(&token, texts[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_token),
        cmocka_unit_test(test_what_is_not_a_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
