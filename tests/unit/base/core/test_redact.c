/* What may be secret in a URL is not shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#undef fail
#include "base/core/error.h"
#include "base/core/redact.h"

static void check_redacted(const char *text, const char *expected) {
    char redacted[128];
    redact_url(redacted, sizeof redacted, text);
    assert_string_equal(redacted, expected);
}

static void test_queries_of_urls_are_redacted(void **state) {
    (void)state;
    check_redacted("s3://bucket/a?b", "s3://bucket/a?b");
    check_redacted("s3://bucket/a?X-Amz-Signature=secret", "s3://bucket/a?...");
    check_redacted("https://host/a?sig=secret", "https://host/a?...");
    check_redacted("https://host?secret", "https://host?...");
    check_redacted("https://user:secret@host/a", "https://host/a");
    check_redacted("https://user:se@cret@host/a", "https://host/a");
    check_redacted("unknown://user:secret@host/a?b=c", "unknown://host/a?...");
    check_redacted("unknown://user:secret@host/a?b", "unknown://host/a?b");
    check_redacted("a/b@c?d", "a/b@c?d");
    check_redacted("https://host/a#secret", "https://host/a#...");
    check_redacted("https://host#secret", "https://host#...");
    check_redacted("https://host/a?b#secret", "https://host/a?...");
    check_redacted("https://host/a#secret?b", "https://host/a#...");
    check_redacted("https://user:secret@host#secret@x", "https://host#...");
    check_redacted("HTTPS://user:secret@host/a#secret", "HTTPS://host/a#...");
    check_redacted("unknown://host/a#secret", "unknown://host/a#...");
    check_redacted("a+b://secret@host/a", "a+b://host/a");
    check_redacted("s3://bucket/a#b", "s3://bucket/a#b");
    check_redacted("s3://bucket/a#b?c", "s3://bucket/a#b?c");
    check_redacted("s3://key:secret@bucket/a#b?c=d", "s3://bucket/a#b?...");
    check_redacted("webhdfs://host:1/a#b?op=c", "webhdfs://host:1/a#b?...");
    check_redacted("https://host/a@4", "https://host/a@4");
    check_redacted("/a/list.txt: line 1: https://user:secret@host/a?b",
                   "/a/list.txt: line 1: https://host/a?...");
    check_redacted("://a@b?c", "://a@b?c");
    check_redacted("", "");
    char small[8];
    redact_url(small, sizeof small, "https://host/a");
    assert_string_equal(small, "https:/");
}

static void test_the_path_of_an_error(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    fail(&error, RECMAP_IO, "cannot read");
    fail_at(&error, "https://user:secret@host/a?secret#secret", 3, RECMAP_NO_OFFSET);
    assert_string_equal(error.path, "https://host/a?...");
    fail_file(&error, "https://host/\n#secret");
    assert_string_equal(error.path, "https://host/\\n#...");
    fail_file(&error, "/a/b#c?d=e@f");
    assert_string_equal(error.path, "/a/b#c?d=e@f");
    fail_errno(&error, 2, "http://u:secret@host", "open the file");
    assert_string_equal(error.path, "http://host");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries_of_urls_are_redacted),
        cmocka_unit_test(test_the_path_of_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
