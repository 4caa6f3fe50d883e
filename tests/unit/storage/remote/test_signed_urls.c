/* The table of presigned URLs: finding, replacing, growing, refusing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/remote/signed_urls.h"

static void add(struct signed_urls *urls, const char *url) {
    assert_int_equal(signed_urls_add(urls, url, NULL), RECMAP_OK);
}

static void test_queries_are_found_by_url(void **state) {
    (void)state;
    struct signed_urls urls = {0};
    assert_null(signed_urls_find(&urls, "https://host/a"));
    add(&urls, "https://host/a?x=1&y=?");
    add(&urls, "http://host/a?");
    assert_string_equal(signed_urls_find(&urls, "https://host/a"), "x=1&y=?");
    assert_string_equal(signed_urls_find(&urls, "http://host/a"), "");
    assert_null(signed_urls_find(&urls, "https://host/b"));
    assert_null(signed_urls_find(&urls, "https://host/a?x=1&y=?"));
    add(&urls, "https://host/a?new");
    assert_string_equal(signed_urls_find(&urls, "https://host/a"), "new");
    assert_int_equal(urls.count, 2);
    signed_urls_deinit(&urls);
    assert_null(signed_urls_find(&urls, "https://host/a"));
}

static void test_many_signed_urls_are_found(void **state) {
    (void)state;
    struct signed_urls urls = {0};
    char text[64];
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "https://host/%d?s=%d", i, i);
        add(&urls, text);
    }
    assert_int_equal(urls.count, 5000);
    for (int i = 0; i < 5000; i++) {
        char query[32];
        snprintf(text, sizeof text, "https://host/%d", i);
        snprintf(query, sizeof query, "s=%d", i);
        assert_string_equal(signed_urls_find(&urls, text), query);
    }
    signed_urls_deinit(&urls);
}

static void check_refused(const char *url, const char *message, const char *name) {
    struct signed_urls urls = {0};
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(signed_urls_add(&urls, url, &error), RECMAP_INVALID);
    assert_string_equal(error.message, message);
    assert_string_equal(error.path, name);
    assert_int_equal(urls.count, 0);
}

static void test_urls_without_a_query_are_refused(void **state) {
    (void)state;
    check_refused("https://host/a",
                  "the signed URL cannot be used: it is not a web URL with a query",
                  "https://host/a");
    check_refused("s3://bucket/a?b=c",
                  "the signed URL cannot be used: it is not a web URL with a query",
                  "s3://bucket/a?...");
    check_refused("https://host/a?b=\r\nX: y",
                  "the signed URL cannot be used: it contains a control character",
                  "https://host/a?...");
    check_refused("https://host/a?b#c", "the signed URL cannot be used: it has a fragment (#...)",
                  "https://host/a?...");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries_are_found_by_url),
        cmocka_unit_test(test_many_signed_urls_are_found),
        cmocka_unit_test(test_urls_without_a_query_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
