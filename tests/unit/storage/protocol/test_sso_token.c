/* Tokens of IAM Identity Center in their files, and the names of these files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "storage/protocol/sha1.h"
#include "storage/protocol/sso_token.h"

static bool reads(struct sso_token *token, const char *text) {
    return sso_token_read(token, text, strlen(text));
}

static void test_a_token(void **state) {
    (void)state;
    struct sso_token token;
    assert_true(reads(&token, "{\"startUrl\": \"https://x\", \"region\": \"us-east-1\", "
                              "\"accessToken\": \"a-b/c=\", \"expiresAt\": "
                              "\"2030-01-01T00:00:00Z\", \"x\": [{}]}\n"));
    assert_string_equal(token.text, "a-b/c=");
    assert_int_equal(token.expires_s, 1893456000);
    assert_true(reads(&token, "{\"expiresAt\":\"2030-01-01T00:00:00UTC\",\"accessToken\":\"a\"}"));
    assert_int_equal(token.expires_s, 1893456000);
}

static void test_what_is_not_a_token(void **state) {
    (void)state;
#define EXPIRY "\"expiresAt\": \"2030-01-01T00:00:00Z\""
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{" EXPIRY "}",
        "{\"accessToken\": \"a\"}",
        "{\"accessToken\": \"\", " EXPIRY "}",
        "{\"accessToken\": \"a b\", " EXPIRY "}",
        "{\"accessToken\": \"a\\r\\nX: y\", " EXPIRY "}",
        "{\"accessToken\": \"a\\u0000b\", " EXPIRY "}",
        "{\"accessToken\": 1, " EXPIRY "}",
        "{\"accessToken\": \"a\", \"expiresAt\": \"soon\"}",
        "{\"accessToken\": \"a\", " EXPIRY,
        "{\"accessToken\": \"a\", " EXPIRY "} x",
    };
    struct sso_token token;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (reads(&token, texts[i])) fail_msg("accepted: %s", texts[i]);
}

static void check_digest(const char *text, const char *expected) {
    char hex[SHA1_HEX_SIZE];
    sha1_write_hex(hex, text);
    assert_string_equal(hex, expected);
}

/* The first ones are those of FIPS 180-4. */
static void test_digests(void **state) {
    (void)state;
    char text[201];
    check_digest("abc", "a9993e364706816aba3e25717850c26c9cd0d89d");
    check_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    check_digest("", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    memset(text, 'a', sizeof text);
    text[200] = 0;
    check_digest(text, "e61cfffe0d9195a525fc6cf06ca2d77119c24a40");
    text[64] = 0;
    check_digest(text, "0098ba824b5c16427bd7a1122a5a442a25ec644d");
    text[63] = 0;
    check_digest(text, "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
    text[55] = 0;
    check_digest(text, "c1c8bbdc22796e28c0e15163d20899b65621d65a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_token),
        cmocka_unit_test(test_what_is_not_a_token),
        cmocka_unit_test(test_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
