/* Credentials that a program prints, for AWS or as a token, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "storage/protocol/process_reply.h"

#define KEYS "{\"Version\": 1, \"AccessKeyId\": \"ASIA1\", \"SecretAccessKey\": \"s/+\""
#define SESSION ", \"SessionToken\": \"t==\""
#define EXPIRATION ", \"Expiration\": \"2030-01-01T02:00:00+02:00\"}\n"

static const int64_t year_2030 = 1893456000;

static bool reads(struct process_credentials *printed, const char *text) {
    return process_reply_read(printed, text, strlen(text));
}

static void test_keys_are_read(void **state) {
    (void)state;
    struct process_credentials printed;
    assert_true(reads(&printed, KEYS SESSION EXPIRATION));
    assert_string_equal(printed.key, "ASIA1");
    assert_string_equal(printed.secret, "s/+");
    assert_string_equal(printed.token, "t==");
    assert_int_equal(printed.expires_s, year_2030);
    assert_true(reads(&printed, KEYS ", \"token\": \"other\", \"x\": {}}"));
    assert_string_equal(printed.key, "ASIA1");
    assert_string_equal(printed.token, "");
    assert_int_equal(printed.expires_s, PROCESS_NEVER);
}

static void check_token(const char *text, int64_t expires_s) {
    struct process_credentials printed;
    if (!reads(&printed, text)) fail_msg("refused: %s", text);
    assert_string_equal(printed.key, "");
    assert_string_equal(printed.token, "ya29.t");
    assert_int_equal(printed.expires_s, expires_s);
}

/* Also as `gcloud config config-helper` and `az account get-access-token` print them. */
static void test_a_token_is_read(void **state) {
    (void)state;
    check_token("{\"token\": \"ya29.t\", \"expires\": \"2030-01-01T00:00:00Z\"}", year_2030);
    check_token("{\"token\": \"ya29.t\", \"expires\": 1893456000}", year_2030);
    check_token("{\"token\": \"ya29.t\"}", PROCESS_NEVER);
    check_token("{\"accessToken\": \"ya29.t\", \"expiresOn\": \"2030-01-01 01:00:00.000000\", "
                "\"expires_on\": 1893456000, \"tokenType\": \"Bearer\"}",
                year_2030);
    check_token("{\"configuration\": {\"properties\": {\"core\": {\"account\": \"a\"}}}, "
                "\"credential\": {\"access_token\": \"ya29.t\", \"id_token\": \"x\", "
                "\"token_expiry\": \"2030-01-01T00:00:00Z\"}, \"sentinels\": {}}",
                year_2030);
}

/* Writes a token that expires at a time. */
static bool reads_time(int64_t *seconds, const char *time) {
    char text[128];
    struct process_credentials printed;
    snprintf(text, sizeof text, "{\"token\": \"t\", \"expires\": \"%s\"}", time);
    bool is_read = reads(&printed, text);
    *seconds = printed.expires_s;
    return is_read;
}

static void test_times_of_expiry_are_read(void **state) {
    (void)state;
    static const char *const same[] = {"2026-11-23T03:05:00Z",        "2026-11-23T03:05:00.123Z",
                                       "2026-11-23T03:05:00+00:00",   "2026-11-23T03:05:00UTC",
                                       "2026-11-23T04:35:00.5+01:30", "2026-11-22T22:05:00-05:00"};
    static const char *const refused[] = {"",
                                          "2026-11-23",
                                          "2026-11-23T03:05:00",
                                          "2026-13-01T00:00:00Z",
                                          "2026-11-00T00:00:00Z",
                                          "1960-01-01T00:00:00Z",
                                          "1970-01-01T00:00:00Z",
                                          "2026-11-23T24:00:00Z",
                                          "2026-11-23T03:05:00+0100",
                                          "2026-11-23T03:05:00+24:00",
                                          "2026-11-23T03:05:00+01:60",
                                          "2026-11-23T03:05:00+01:00Z"};
    int64_t seconds;
    assert_true(reads_time(&seconds, "1970-01-01T00:00:01Z"));
    assert_int_equal(seconds, 1);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_true(reads_time(&seconds, same[i]));
        assert_int_equal(seconds, 1795403100);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(reads_time(&seconds, refused[i]));
}

static void test_other_outputs_are_refused(void **state) {
    (void)state;
    static const char *const refused[] = {
        "",
        "{}",
        "[]",
        KEYS,
        KEYS "} x",
        "{\"AccessKeyId\": \"ASIA1\", \"SecretAccessKey\": \"s/+\"}",
        "{\"Version\": 2, \"AccessKeyId\": \"ASIA1\", \"SecretAccessKey\": \"s/+\"}",
        "{\"Version\": \"1\", \"AccessKeyId\": \"ASIA1\", \"SecretAccessKey\": \"s/+\"}",
        "{\"Version\": 1, \"AccessKeyId\": \"ASIA1\"}",
        "{\"Version\": 1, \"AccessKeyId\": \"ASIA1\", \"token\": \"t\"}",
        "{\"Version\": 1, \"SecretAccessKey\": \"s/+\"}",
        KEYS ", \"SessionToken\": \"a\\r\\nX: y\"}",
        KEYS ", \"SessionToken\": 7}",
        KEYS ", \"Expiration\": \"\"}",
        KEYS ", \"Expiration\": \"soon\"}",
        "{\"token\": \"\"}",
        "{\"token\": \"a b\"}",
        "{\"token\": \"a\\nb\"}",
        "{\"token\": 7}",
        "{\"token\": \"t\", \"expires\": \"tomorrow\"}",
        "{\"token\": \"t\", \"expires\": -1}",
        "{\"token\": \"t\", \"expires\": 1.5}",
        "{\"token\": \"t\", \"expires\": 18446744073709551615}",
        "{\"credential\": {\"credential\": {\"access_token\": \"t\"}}}",
    };
    struct process_credentials printed;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (reads(&printed, refused[i])) fail_msg("accepted: %s", refused[i]);
}

static void test_long_values_are_refused(void **state) {
    (void)state;
    struct process_credentials printed;
    static char text[PROCESS_TOKEN_MAX + 64];
    for (int size = PROCESS_TOKEN_MAX - 1; size <= PROCESS_TOKEN_MAX; size++) {
        snprintf(text, sizeof text, "{\"token\": \"%0*d\"}", size, 0);
        assert_int_equal(reads(&printed, text), size < PROCESS_TOKEN_MAX);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_read),
        cmocka_unit_test(test_a_token_is_read),
        cmocka_unit_test(test_times_of_expiry_are_read),
        cmocka_unit_test(test_other_outputs_are_refused),
        cmocka_unit_test(test_long_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
