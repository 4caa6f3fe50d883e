/* URLs: which are accepted, what messages show of them, and how keys are encoded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/words/url_prefix.h"
#include "storage/protocol/url.h"

static void check_url(const char *text, enum url_scheme scheme, const char *host, const char *key) {
    struct url url;
    assert_null(url_parse(&url, text));
    assert_int_equal(url.scheme, scheme);
    assert_int_equal(url.host_size, strlen(host));
    assert_memory_equal(url.host, host, strlen(host));
    assert_string_equal(url.key, key);
}

static void check_reason(const char *text, const char *reason) {
    struct url url;
    const char *actual = url_parse(&url, text);
    assert_non_null(actual);
    assert_string_equal(actual, reason);
}

static void test_urls_are_split(void **state) {
    (void)state;
    check_url("s3://bucket/a/b.tfrecord", URL_S3, "bucket", "a/b.tfrecord");
    check_url("s3://bucket", URL_S3, "bucket", "");
    check_url("s3://bucket/a b?c#d%e", URL_S3, "bucket", "a b?c#d%e");
    check_url("gs://my_bucket.org/x", URL_GS, "my_bucket.org", "x");
    check_url("az://container/x", URL_AZ, "container", "x");
    check_url("https://example.org/a/b", URL_HTTPS, "example.org", "a/b");
    check_url("http://127.0.0.1:8080/x?y=z", URL_HTTP, "127.0.0.1:8080", "x?y=z");
    check_url("http://[::1]:80/x", URL_HTTP, "[::1]:80", "x");
    check_url("http://host/.../%2ea/..b?/../", URL_HTTP, "host", ".../%2ea/..b?/../");
}

static void test_malformed_urls_are_rejected(void **state) {
    (void)state;
    char text[URL_MAX + 32] = "s3://bucket/";
    check_reason("ftp://host/x", "its scheme is not one of s3, gs, az, http and https");
    check_reason("a/b", "its scheme is not one of s3, gs, az, http and https");
    check_reason("hdfs:///x", "recmap reads hdfs:// and webhdfs:// in Python only");
    check_reason("webhdfs://host/x", "recmap reads hdfs:// and webhdfs:// in Python only");
    check_reason("swebhdfs://host/x", "recmap reads hdfs:// and webhdfs:// in Python only");
    check_reason("s3:///x", "its bucket name is invalid");
    check_reason("s3://a b/x", "its bucket name is invalid");
    check_reason("s3://.a/x", "its bucket name is invalid");
    check_reason("http:///x", "its host name is invalid");
    check_reason("http://a\\b/x", "its host name is invalid");
    check_reason("http://a:80:80/x", "its host name is invalid");
    check_reason("http://a:8o/x", "its host name is invalid");
    check_reason("http://:80/x", "its host name is invalid");
    check_reason("http://a[::1]/x", "its host name is invalid");
    check_reason("http://[::1/x", "its host name is invalid");
    check_reason("http://[::1]a/x", "its host name is invalid");
    check_reason("http://::1/x", "its host name is invalid");
    check_reason("http://[fe80::1%25eth0]/x", "its host name is invalid");
    check_reason("http://%31/x", "its host name is invalid");
    check_reason("http://１/x", "its host name is invalid");
    check_reason("http://user:word@host/x", "it contains a user name or password");
    check_reason("s3://key:word@bucket/x", "it contains a user name or password");
    check_reason("http://host/a b", "it contains a character that must be percent-encoded");
    check_reason("http://host/a#b", "it has a fragment (#...)");
    check_reason("http://host/a/../b", "a part of its path is . or ..");
    check_reason("http://host/..", "a part of its path is . or ..");
    check_reason("http://host/a/%2e%2E/b", "a part of its path is . or ..");
    check_reason("http://host/a/.%2e", "a part of its path is . or ..");
    check_reason("http://host/%2e?x", "a part of its path is . or ..");
    check_reason("s3://bucket/a\nb", "it contains a control character");
    memset(text + strlen(text), 'x', URL_MAX);
    check_reason(text, "it is longer than 4096 bytes");
}

static void test_names_with_a_scheme_are_urls(void **state) {
    (void)state;
    assert_true(url_is_url("s3://x"));
    assert_true(url_is_url("unknown://x"));
    assert_false(url_is_url("s3:/x"));
    assert_false(url_is_url("://x"));
    assert_false(url_is_url("/a/s3://x"));
    assert_false(url_is_url(""));
}

static void test_keys_are_percent_encoded(void **state) {
    (void)state;
    char text[64] = "";
    assert_true(url_append_encoded(text, sizeof text, "a/b c=d+\xc3\xa4~", 11, true));
    assert_string_equal(text, "a/b%20c%3Dd%2B%C3%A4~");
    text[0] = 0;
    assert_true(url_append_encoded(text, sizeof text, "a/b", 3, false));
    assert_string_equal(text, "a%2Fb");
    char small[4] = "";
    assert_false(url_append_encoded(small, sizeof small, "a c", 3, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls_are_split),
        cmocka_unit_test(test_malformed_urls_are_rejected),
        cmocka_unit_test(test_names_with_a_scheme_are_urls),
        cmocka_unit_test(test_keys_are_percent_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
