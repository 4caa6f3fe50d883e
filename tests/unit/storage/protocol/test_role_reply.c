/* Replies with temporary credentials: what is accepted, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "storage/protocol/role_reply.h"

static void check_credentials(const struct role_credentials *role) {
    assert_string_equal(role->key, "ASIA1");
    assert_string_equal(role->secret, "s/+");
    assert_string_equal(role->token, "t==");
    assert_int_equal(role->expires_s, 1893456000);
}

static bool reads_json(struct role_credentials *role, const char *text) {
    return role_reply_read_json(role, text, strlen(text));
}

static bool reads_xml(struct role_credentials *role, const char *text) {
    return role_reply_read_xml(role, text, strlen(text));
}

#define REST "\"SecretAccessKey\": \"s/+\", \"Token\": \"t==\","
#define END "\"Expiration\": \"2030-01-01T00:00:00Z\"}"

static void test_json(void **state) {
    (void)state;
    struct role_credentials role;
    assert_true(reads_json(&role, "{\"AccessKeyId\": \"ASIA1\", " REST END));
    check_credentials(&role);
    assert_true(
        reads_json(&role, " {\"A\": {\"b\": [1]}, \"AccessKeyId\":\"\\u0041SIA1\", " REST END));
    check_credentials(&role);
    static const char *const refused[] = {
        "",
        "[]",
        "{}",
        "{" REST END,
        "{\"AccessKeyId\": \"\", " REST END,
        "{\"AccessKeyId\": 7, " REST END,
        "{\"AccessKeyId\": \"a b\", " REST END,
        "{\"AccessKeyId\": \"a\\nb\", " REST END,
        "{\"AccessKeyId\": \"ASIA1\", " REST END " x",
        "{\"AccessKeyId\": \"ASIA1\", " REST "\"Expiration\": \"2030-01-01\"}",
        ("{\"AccessKeyId\": \"ASIA1\", " REST),
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(reads_json(&role, refused[i]));
}

static void test_long_values(void **state) {
    (void)state;
    struct role_credentials role;
    char text[2 * ROLE_KEY_MAX + 256];
    for (int size = ROLE_KEY_MAX - 1; size <= ROLE_KEY_MAX; size++) {
        snprintf(text, sizeof text, "{\"AccessKeyId\": \"%0*d\", " REST END, size, 0);
        assert_int_equal(reads_json(&role, text), size < ROLE_KEY_MAX);
    }
}

#define PORTAL(inner) "{\"roleCredentials\": {" inner "}}"
#define PORTAL_KEYS                                                                                \
    "\"accessKeyId\": \"ASIA1\", \"secretAccessKey\": \"s/+\", \"sessionToken\": \"t==\""

static bool reads_portal(struct role_credentials *role, const char *text) {
    return role_reply_read_portal(role, text, strlen(text));
}

static void test_replies_of_the_portal(void **state) {
    (void)state;
    struct role_credentials role;
    assert_true(reads_portal(&role, PORTAL(PORTAL_KEYS ", \"expiration\": 1893456000999")));
    check_credentials(&role);
    assert_true(reads_portal(&role, "{\"x\": [{}], \"roleCredentials\": {" PORTAL_KEYS
                                    ", \"expiration\": 1893456000000}, \"y\": 1}"));
    check_credentials(&role);
    static const char *const refused[] = {
        "",
        "{}",
        "{" PORTAL_KEYS ", \"expiration\": 1893456000000}",
        PORTAL(PORTAL_KEYS),
        PORTAL(PORTAL_KEYS ", \"expiration\": 0"),
        PORTAL(PORTAL_KEYS ", \"expiration\": -1"),
        PORTAL(PORTAL_KEYS ", \"expiration\": 1e12"),
        PORTAL(PORTAL_KEYS ", \"expiration\": \"2030-01-01T00:00:00Z\""),
        PORTAL("\"expiration\": 1893456000000"),
        "{\"roleCredentials\": null}",
        PORTAL(PORTAL_KEYS ", \"expiration\": 1893456000000") " x",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (reads_portal(&role, refused[i])) fail_msg("accepted: %s", refused[i]);
}

#define XML(key, time)                                                                             \
    "<A><Credentials><AccessKeyId>" key "</AccessKeyId><SecretAccessKey>s/+</SecretAccessKey>"     \
    "<SessionToken>t==</SessionToken><Expiration>" time "</Expiration></Credentials></A>"

static void test_xml(void **state) {
    (void)state;
    struct role_credentials role;
    assert_true(reads_xml(&role, XML("ASIA1", "2030-01-01T00:00:00Z")));
    check_credentials(&role);
    assert_false(reads_xml(&role, XML("", "2030-01-01T00:00:00Z")));
    assert_false(reads_xml(&role, XML("a&lt;", "2030-01-01T00:00:00Z")));
    assert_false(reads_xml(&role, XML("a<b/>", "2030-01-01T00:00:00Z")));
    assert_false(reads_xml(&role, XML("a\r\nX: y", "2030-01-01T00:00:00Z")));
    assert_false(reads_xml(&role, XML("ASIA1", "later")));
    assert_false(reads_xml(&role, "<AccessKeyId>a"));
}

static void test_times(void **state) {
    (void)state;
    int64_t seconds;
    assert_true(role_parse_time(&seconds, "1970-01-01T00:00:00Z"));
    assert_int_equal(seconds, 0);
    assert_true(role_parse_time(&seconds, "2026-11-23T03:05:00.123Z"));
    assert_int_equal(seconds, 1795403100);
    assert_true(role_parse_time(&seconds, "2026-11-23T03:05:00+00:00"));
    assert_int_equal(seconds, 1795403100);
    assert_true(role_parse_time(&seconds, "2026-11-23T03:05:00UTC"));
    assert_int_equal(seconds, 1795403100);
    assert_true(role_parse_time(&seconds, "2026-11-23T04:35:00.5+01:30"));
    assert_int_equal(seconds, 1795403100);
    assert_true(role_parse_time(&seconds, "2026-11-22T22:05:00-05:00"));
    assert_int_equal(seconds, 1795403100);
    static const char *const refused[] = {"",
                                          "2026-11-23",
                                          "2026-11-23T03:05:00",
                                          "2026-13-01T00:00:00Z",
                                          "2026-11-00T00:00:00Z",
                                          "1960-01-01T00:00:00Z",
                                          "2026-11-23T24:00:00Z",
                                          "2026-11-23T03:05:00+0100",
                                          "2026-11-23T03:05:00+24:00",
                                          "2026-11-23T03:05:00+01:60",
                                          "2026-11-23T03:05:00+01:00Z"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(role_parse_time(&seconds, refused[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_long_values),
        cmocka_unit_test(test_replies_of_the_portal),
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
