/* SHA-256, HMAC and AWS Signature Version 4, against published examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/protocol/signature.h"

static const char *hex_of(const uint8_t digest[SHA256_SIZE]) {
    static char hex[2 * SHA256_SIZE + 1];
    sha256_write_hex(hex, digest);
    return hex;
}

static const char *hash(const char *text, size_t repeats) {
    uint8_t digest[SHA256_SIZE];
    struct sha256 sha;
    sha256_init(&sha);
    for (size_t i = 0; i < repeats; i++) sha256_update(&sha, text, strlen(text));
    sha256_finish(digest, &sha);
    return hex_of(digest);
}

/* FIPS 180-4's examples, and the hash of nothing. */
static void test_sha256_has_the_known_values(void **state) {
    (void)state;
    assert_string_equal(hash("", 1), SIGNATURE_EMPTY_HASH);
    assert_string_equal(hash("abc", 1),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1),
                        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_string_equal(hash("aaaaaaaaaa", 100000),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* RFC 4231, test cases 2 and 6. */
static void test_hmac_has_the_known_values(void **state) {
    (void)state;
    uint8_t digest[SHA256_SIZE], key[131];
    hmac_sha256(digest, "Jefe", 4, "what do ya want for nothing?", 28);
    assert_string_equal(hex_of(digest),
                        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    const char *text = "Test Using Larger Than Block-Size Key - Hash Key First";
    hmac_sha256(digest, key, sizeof key, text, strlen(text));
    assert_string_equal(hex_of(digest),
                        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/* "Examples of how to derive a signing key", AWS General Reference. */
static void test_signing_keys_equal_amazons_example(void **state) {
    (void)state;
    uint8_t key[SHA256_SIZE];
    signature_derive_key(key, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830", 8,
                         "us-east-1", "iam");
    assert_string_equal(hex_of(key),
                        "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
}

static void check_signature(const struct signature_input *change, const char *signature) {
    struct signature_input input = *change;
    char authorization[AUTHORIZATION_MAX];
    input.region = "us-east-1";
    input.service = "s3";
    input.key = "AKIAIOSFODNN7EXAMPLE";
    input.secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    input.time = "20130524T000000Z";
    assert_true(signature_write(authorization, &input));
    const char *value = strstr(authorization, "Signature=");
    assert_non_null(value);
    assert_string_equal(value + strlen("Signature="), signature);
    assert_null(strstr(authorization, input.secret));
}

/* The GET examples of "Signature Calculations for the Authorization Header", Amazon S3 API
 * Reference. */
static void test_signatures_equal_amazons_examples(void **state) {
    (void)state;
    const struct signed_header with_range[] = {{"host", "examplebucket.s3.amazonaws.com"},
                                               {"range", "bytes=0-9"},
                                               {"x-amz-content-sha256", SIGNATURE_EMPTY_HASH},
                                               {"x-amz-date", "20130524T000000Z"}};
    const struct signed_header plain[] = {with_range[0], with_range[2], with_range[3]};
    check_signature(
        &(struct signature_input){
            .path = "/test.txt", .query = "", .headers = with_range, .header_count = 4},
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    check_signature(
        &(struct signature_input){
            .path = "/", .query = "lifecycle=", .headers = plain, .header_count = 3},
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    check_signature(
        &(struct signature_input){
            .path = "/", .query = "max-keys=2&prefix=J", .headers = plain, .header_count = 3},
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void test_keys_that_are_too_long_are_refused(void **state) {
    (void)state;
    char secret[300], authorization[AUTHORIZATION_MAX];
    memset(secret, 'x', sizeof secret);
    secret[sizeof secret - 1] = 0;
    struct signature_input input = {.path = "/",
                                    .query = "",
                                    .region = "r",
                                    .service = "s3",
                                    .key = "k",
                                    .secret = secret,
                                    .time = "20130524T000000Z"};
    assert_false(signature_write(authorization, &input));
    input.secret = "s";
    assert_true(signature_write(authorization, &input));
    input.region = secret;
    assert_false(signature_write(authorization, &input));
}

/* The cached key is always the last request's, whatever changes. */
static void test_the_cached_key_is_the_last_requests(void **state) {
    (void)state;
    struct signature_input input = {.path = "/",
                                    .query = "",
                                    .region = "r",
                                    .service = "s3",
                                    .key = "k",
                                    .secret = "s",
                                    .time = "20130524T000000Z"};
    struct signing_key kept = {0};
    for (int step = 0; step < 6; step++) {
        if (step == 1) input.time = "20130524T235959Z";
        if (step == 2) input.time = "20130525T000000Z";
        if (step == 3) input.secret = "t";
        if (step == 4) input.region = "q";
        if (step == 5) input.service = "sts";
        char alone[AUTHORIZATION_MAX], together[AUTHORIZATION_MAX];
        uint8_t before[SHA256_SIZE];
        memcpy(before, kept.bytes, sizeof before);
        input.kept = NULL;
        assert_true(signature_write(alone, &input));
        input.kept = &kept;
        assert_true(signature_write(together, &input));
        assert_string_equal(alone, together);
        assert_int_equal(!memcmp(before, kept.bytes, sizeof before), step == 1);
    }
}

static void test_times_are_written_in_utc(void **state) {
    (void)state;
    char text[SIGNATURE_TIME_SIZE];
    signature_write_time(text, 1369353600);
    assert_string_equal(text, "20130524T000000Z");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_has_the_known_values),
        cmocka_unit_test(test_hmac_has_the_known_values),
        cmocka_unit_test(test_signing_keys_equal_amazons_example),
        cmocka_unit_test(test_signatures_equal_amazons_examples),
        cmocka_unit_test(test_keys_that_are_too_long_are_refused),
        cmocka_unit_test(test_the_cached_key_is_the_last_requests),
        cmocka_unit_test(test_times_are_written_in_utc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
