/* Pages of listings: what is read from them, and that malformed ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/protocol/list_reply.h"

#define LIST(text) "<ListBucketResult>" text "</ListBucketResult>"

static enum list_verdict read_page(struct list_page *page, const char *text) {
    *page = (struct list_page){0};
    /* A copy without a NUL, so that a sanitizer sees reads past the end. */
    size_t size = strlen(text);
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    char *exact = realloc(copy, size ? size : 1);
    enum list_verdict verdict = list_page_read(page, &list_dialect_s3, exact, size);
    free(exact);
    return verdict;
}

static void test_pages_of_s3_are_read(void **state) {
    (void)state;
    struct list_page page;
    assert_int_equal(
        read_page(&page,
                  "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://x/\"><Name>b</Name>"
                  "<Contents><Key>a/b &amp; &lt;c&gt;&#x20;&#228;</Key><Size>3</Size></Contents>"
                  "<!-- <Contents> --><Contents><Owner><Key>no</Key></Owner><Key>d</Key>"
                  "</Contents><Prefix/><NextContinuationToken>t=</NextContinuationToken>"
                  "</ListBucketResult>"),
        LIST_OK);
    assert_int_equal(page.count, 2);
    assert_string_equal(page.names[0], "a/b & <c> \xc3\xa4");
    assert_string_equal(page.names[1], "d");
    assert_string_equal(page.next, "t=");
    list_page_deinit(&page);
    assert_int_equal(read_page(&page, "<ListBucketResult/>"), LIST_OK);
    assert_int_equal(page.count, 0);
    assert_null(page.next);
    list_page_deinit(&page);
}

static void test_pages_of_azure_are_read(void **state) {
    (void)state;
    const char *text = "<EnumerationResults><Blobs><Blob><Name>a</Name></Blob></Blobs>"
                       "<NextMarker>m</NextMarker></EnumerationResults>";
    struct list_page page = {0};
    assert_int_equal(list_page_read(&page, &list_dialect_azure, text, strlen(text)), LIST_OK);
    assert_int_equal(page.count, 1);
    assert_string_equal(page.names[0], "a");
    assert_string_equal(page.next, "m");
    list_page_deinit(&page);
}

/* A server that knows only the first version of ListObjects marks a page by IsTruncated alone. */
static void test_a_page_without_token_is_not_the_last_if_it_says_so(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum list_verdict verdict;
    } cases[] = {
        {LIST("<IsTruncated>true</IsTruncated><Contents><Key>a</Key></Contents>"), LIST_INCOMPLETE},
        {LIST("<IsTruncated>true</IsTruncated><NextMarker>a</NextMarker>"), LIST_INCOMPLETE},
        {LIST("<NextContinuationToken/><IsTruncated>True</IsTruncated>"), LIST_INCOMPLETE},
        {LIST("<IsTruncated>1</IsTruncated>"), LIST_INCOMPLETE},
        {LIST("<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"),
         LIST_OK},
        {LIST("<IsTruncated>false</IsTruncated><Contents><Key>true</Key></Contents>"), LIST_OK},
        {LIST("<IsTruncated/>"), LIST_OK},
        {"<ListBucketResult><IsTruncated>true</IsTruncated>", LIST_MALFORMED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct list_page page;
        assert_int_equal(read_page(&page, cases[i].text), cases[i].verdict);
        list_page_deinit(&page);
    }
}

static const char too_deep[] =
    LIST("<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a></a></a>"
         "</a></a></a></a></a></a></a></a>");

static void test_malformed_pages_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "x",
        "<a",
        "<a>",
        "</a>",
        "<a></b>",
        "<>",
        "<!DOCTYPE a><a/>",
        "<?xml",
        "<!-- <a/>",
        LIST("<Contents><Key>&nope;</Key></Contents>"),
        LIST("<Contents><Key>&amp</Key></Contents>"),
        LIST("<Contents><Key>&#0;</Key></Contents>"),
        LIST("<Contents><Key>&#xd800;</Key></Contents>"),
        LIST("<Contents><Key>&#99999999999;</Key></Contents>"),
        LIST("<a>"),
        LIST("<a></b>"),
        too_deep,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct list_page page;
        assert_int_equal(read_page(&page, texts[i]), LIST_MALFORMED);
        list_page_deinit(&page);
    }
}

/* They are well-formed, and have no names. */
static void test_documents_that_are_not_lists(void **state) {
    (void)state;
    static const char *const texts[] = {
        "<html><body>Sign in</body></html>",
        "<HTML/>",
        "<Error><Code>SlowDown</Code></Error>",
        "<ListAllMyBucketsResult/>",
        "<ListBucketResultX/>",
        "<ListBucketResul/>",
        "<EnumerationResults/>",
        "<a><ListBucketResult/></a>",
        "<ListBucketResult/><html/>",
        "<html/><ListBucketResult/>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct list_page page;
        if (read_page(&page, texts[i]) != LIST_MALFORMED) fail_msg("%s", texts[i]);
        list_page_deinit(&page);
    }
    struct list_page page = {0};
    const char *text = "<ListBucketResult/>";
    assert_int_equal(list_page_read(&page, &list_dialect_azure, text, strlen(text)),
                     LIST_MALFORMED);
    list_page_deinit(&page);
    assert_int_equal(read_page(&page, "<s3:ListBucketResult xmlns:s3='x'/>"), LIST_OK);
    list_page_deinit(&page);
}

static bool is_cut(const char *text, size_t size) {
    return list_is_cut(&list_dialect_s3, text, size);
}

static void test_cut_pages_are_refused(void **state) {
    (void)state;
    static const char page[] =
        "<?xml version='1.0'?>\n<ListBucketResult a='b'><Key>x</Key></ListBucketResult>\n";
    size_t root = 21 + 1 + strlen("<ListBucketResult a='b'>"), end = sizeof page - 2;
    for (size_t size = root; size < end; size++) assert_true(is_cut(page, size));
    assert_false(is_cut(page, end));
    assert_false(is_cut(page, end + 1));
    assert_false(is_cut("", 0));
    assert_false(is_cut("x", 1));
    assert_false(is_cut("<ListBucketResult/>", 19));
    assert_false(is_cut("<!DOCTYPE html><html>", 21));
    assert_false(is_cut("<html><p>", 9));
    assert_false(is_cut("<EnumerationResults>", 20));
    assert_false(is_cut("<>", 2));
    assert_true(is_cut("<ListBucketResult>", 18));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_of_s3_are_read),
        cmocka_unit_test(test_pages_of_azure_are_read),
        cmocka_unit_test(test_a_page_without_token_is_not_the_last_if_it_says_so),
        cmocka_unit_test(test_malformed_pages_are_refused),
        cmocka_unit_test(test_documents_that_are_not_lists),
        cmocka_unit_test(test_cut_pages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
