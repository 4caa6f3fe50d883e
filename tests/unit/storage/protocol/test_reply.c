/* Replies to requests for ranges: which are taken, and how the others are judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/protocol/reply.h"

static struct reply reply_of(long status, const char *headers) {
    struct reply reply;
    reply_reset(&reply);
    reply.status = status;
    for (const char *line = headers; *line;) {
        size_t size = strcspn(line, "\n");
        reply_add_header(&reply, line, size);
        line += size + (line[size] == '\n');
    }
    return reply;
}

static const struct range_request ten = {
    .offset = 100, .size = 10, .object_size = 1000, .etag = "\"a\"", .modified = REPLY_NO_TIME};

static void check(const struct range_request *request, long status, const char *headers,
                  enum reply_verdict verdict, const char *reason) {
    struct reply reply = reply_of(status, headers);
    uint64_t body_size;
    const char *value;
    assert_int_equal(reply_check(&body_size, &value, &reply, request), verdict);
    if (reason) assert_string_equal(value, reason);
    else assert_null(value);
}

static void test_good_replies_are_accepted(void **state) {
    (void)state;
    struct reply reply = reply_of(206, "Content-Range: bytes 100-109/1000\r\nETag: \"a\"\r\n"
                                       "content-length:10\r\n");
    uint64_t body_size;
    const char *reason;
    assert_int_equal(reply_check(&body_size, &reason, &reply, &ten), REPLY_GOOD);
    assert_int_equal(body_size, 10);
    check(&ten, 206, "content-range: bytes 100-109/*\netag: \"a\"", REPLY_GOOD, NULL);
}

static void test_replies_with_another_range_are_refused(void **state) {
    (void)state;
    const char *other = "the server sends another range than the requested one";
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes 101-110/1000", REPLY_ODD, other);
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes 100-108/1000", REPLY_ODD, other);
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes 100-110/1000", REPLY_ODD, other);
    check(&ten, 206, "ETag: \"a\"", REPLY_ODD, "the server does not say which range it sends");
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes 100-109/1000\nContent-Length: 9", REPLY_ODD,
          "the reply's length does not match its range");
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes 109-100/1000", REPLY_ODD,
          "the server's headers cannot be understood");
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes 100-109/50", REPLY_ODD,
          "the server's headers cannot be understood");
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes 100-109/1000\nContent-Encoding: gzip",
          REPLY_UNUSABLE,
          "the object is stored with a content encoding, which ranges do not decode");
}

static void test_contradicting_headers_are_refused(void **state) {
    (void)state;
    const char *unclear = "the server's headers cannot be understood";
    check(&ten, 206,
          "ETag: \"a\"\nETag: \"a\"\nContent-Range: bytes 100-109/1000\nContent-Length: 10\n"
          "Content-Range: bytes 100-109/1000\nContent-Length: 10",
          REPLY_GOOD, NULL);
    check(&ten, 206, "ETag: \"b\"\nETag: \"a\"\nContent-Range: bytes 100-109/1000", REPLY_ODD,
          unclear);
    check(&ten, 206, "ETag: \"a\"\nETag: \"ab\"\nContent-Range: bytes 100-109/1000", REPLY_ODD,
          unclear);
    check(&ten, 206,
          "ETag: \"a\"\nContent-Range: bytes 0-9/1000\nContent-Range: bytes 100-109/1000",
          REPLY_ODD, unclear);
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes */1000\nContent-Range: bytes 100-109/1000",
          REPLY_ODD, unclear);
    check(&ten, 206,
          "ETag: \"a\"\nContent-Range: bytes 100-109/1000\nContent-Length: 9\nContent-Length: 10",
          REPLY_ODD, unclear);
}

static void test_whole_objects_are_refused(void **state) {
    (void)state;
    check(&ten, 200, "ETag: \"a\"\nContent-Length: 1000", REPLY_ODD,
          "the server ignores ranges: it sends the whole object");
    check(&ten, 200, "ETag: \"a\"\nContent-Length: 10", REPLY_ODD,
          "the server ignores ranges: it sends the whole object");
    struct range_request all = ten;
    all.offset = 0;
    all.size = 1000;
    check(&all, 200, "ETag: \"a\"\nContent-Length: 1000", REPLY_GOOD, NULL);
    check(&all, 200, "ETag: \"a\"", REPLY_ODD,
          "the server ignores ranges: it sends the whole object");
    check(&all, 200, "ETag: \"a\"\nContent-Length: 1000\nContent-Range: bytes 0-999/1000",
          REPLY_GOOD, NULL);
    check(&all, 200, "ETag: \"a\"\nContent-Length: 1000\nContent-Range: bytes 0-999/1001",
          REPLY_ODD, "the server sends a range as if it were the object");
}

static void test_changed_objects_are_recognised(void **state) {
    (void)state;
    const char *changed = "the object has changed";
    check(&ten, 206, "ETag: \"b\"\nContent-Range: bytes 100-109/1000", REPLY_CHANGED, changed);
    check(&ten, 206, "ETag: \"a\"\nContent-Range: bytes 100-109/1001", REPLY_CHANGED, changed);
    check(&ten, 412, "", REPLY_CHANGED, changed);
    check(&ten, 416, "Content-Range: bytes */50", REPLY_CHANGED, "the object is shorter");
    check(&ten, 206, "Content-Range: bytes 100-109/1000", REPLY_ODD, reply_lacks_etag);
}

/* Without an ETag, as plain web servers send none, the time of modification decides. */
static void test_changed_by_time(void **state) {
    (void)state;
    struct range_request request = ten;
    request.etag = "";
    request.modified = 784111777;
    check(&request, 206,
          "Content-Range: bytes 100-109/1000\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
          REPLY_GOOD, NULL);
    check(&request, 206,
          "Content-Range: bytes 100-109/1000\nLast-Modified: Sun, 06 Nov 1994 08:49:38 GMT",
          REPLY_CHANGED, "the object has changed");
}

static void test_probes_learn_size_and_etag(void **state) {
    (void)state;
    struct range_request probe = {.size = 10,
                                  .accepts_shorter = true,
                                  .object_size = REPLY_NO_SIZE,
                                  .etag = "",
                                  .modified = REPLY_NO_TIME};
    check(&probe, 206, "Content-Range: bytes 0-9/1000", REPLY_GOOD, NULL);
    check(&probe, 206, "Content-Range: bytes 0-4/5", REPLY_GOOD, NULL);
    check(&probe, 206, "Content-Range: bytes 0-4/6", REPLY_ODD,
          "the server sends another range than the requested one");
    check(&probe, 200, "Content-Length: 5", REPLY_GOOD, NULL);
    check(&probe, 200, "Content-Length: 0", REPLY_EMPTY, "the object is empty");
    check(&probe, 416, "Content-Range: bytes */0", REPLY_EMPTY, "the object is empty");
}

/* The size of the object is not known yet: a part must not be taken for it. */
static void test_probe_of_a_server_without_206(void **state) {
    (void)state;
    const struct range_request first = {.size = 1,
                                        .accepts_shorter = true,
                                        .object_size = REPLY_NO_SIZE,
                                        .etag = "",
                                        .modified = REPLY_NO_TIME};
    check(&first, 200, "Content-Length: 1\nContent-Range: bytes 0-0/61064", REPLY_ODD,
          "the server sends a range as if it were the object");
    check(&first, 200, "Content-Length: 1\nContent-Range: bytes 0-0/1", REPLY_GOOD, NULL);
    check(&first, 200, "Content-Length: 1", REPLY_GOOD, NULL);
}

static void test_statuses_have_their_verdicts(void **state) {
    (void)state;
    const char *busy = "the server is busy or has failed";
    check(&ten, 404, "", REPLY_MISSING, "there is no such object");
    check(&ten, 403, "", REPLY_DENIED, "access was denied");
    check(&ten, 401, "", REPLY_DENIED, "access was denied");
    check(&ten, 301, "", REPLY_REDIRECTED, "the server redirects the request");
    for (int status = 201; status <= 205; status++)
        check(&ten, status, "", REPLY_ODD, "the reply has neither what was requested nor an error");
    check(&ten, 400, "", REPLY_UNUSABLE, "the server refuses the request");
    check(&ten, 501, "", REPLY_UNUSABLE, "the server refuses the request");
    check(&ten, 505, "", REPLY_UNUSABLE, "the server refuses the request");
    check(&ten, 408, "", REPLY_TRY_AGAIN, busy);
    check(&ten, 429, "", REPLY_TRY_AGAIN, busy);
    check(&ten, 500, "", REPLY_TRY_AGAIN, busy);
    check(&ten, 503, "", REPLY_TRY_AGAIN, busy);
    struct reply reply = reply_of(503, "Retry-After: 7");
    assert_int_equal(reply.retry_after, 7);
    reply = reply_of(503, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT");
    assert_int_equal(reply.retry_after, 0);
}

static void check_code(const char *body, const char *expected) {
    char code[CODE_MAX];
    reply_find_code(code, body, strlen(body));
    assert_string_equal(code, expected);
}

static void test_codes_of_errors_are_read(void **state) {
    (void)state;
    check_code("<Error><Code>NoSuchKey</Code></Error>", "NoSuchKey");
    check_code("<Error><Code>No such</Code></Error>", "");
    check_code("<Code>abc", "");
    check_code("", "");
}

static int64_t date(const char *text) {
    return reply_parse_date(text, strlen(text));
}

static void test_dates_are_read(void **state) {
    (void)state;
    assert_int_equal(date("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
    assert_int_equal(date("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
    assert_int_equal(date("Tue, 29 Feb 2028 23:59:59 GMT"), 1835481599);
    assert_true(date("Sunday, 06-Nov-94 08:49:37 GMT") == REPLY_NO_TIME);
    assert_true(date("Sun, 06 Nov 1994 08:49:37") == REPLY_NO_TIME);
    assert_true(date("Sun, 06 Foo 1994 08:49:37 GMT") == REPLY_NO_TIME);
    assert_true(date("Sun, 06 Nov 1994 25:49:37 GMT") == REPLY_NO_TIME);
    assert_true(date("Sun,") == REPLY_NO_TIME);
    int64_t last = date("Tue, 31 Dec 2261 23:59:60 GMT");
    assert_true(last > 0 && last <= INT64_MAX / 1000000000);
    assert_true(date("Wed, 01 Jan 2262 00:00:00 GMT") == REPLY_NO_TIME);
    assert_true(date("Fri, 31 Dec 9999 23:59:59 GMT") == REPLY_NO_TIME);
}

static void test_weak_etags_are_told_apart(void **state) {
    (void)state;
    assert_true(etag_is_strong("\"a\""));
    assert_false(etag_is_strong("W/\"a\""));
    assert_false(etag_is_strong(""));
    char line[ETAG_MAX + 16] = "ETag: ";
    memset(line + 6, 'x', ETAG_MAX);
    check(&ten, 206, line, REPLY_ODD, "the server's headers cannot be understood");
    check(&ten, 206, "ETag: \"a\rb\"", REPLY_ODD, "the server's headers cannot be understood");
    check(&ten, 206, "ETag: \"a\x7f\"", REPLY_ODD, "the server's headers cannot be understood");
}

static void check_quote(const char *body, size_t size, const char *expected) {
    char quote[QUOTE_MAX];
    reply_quote(quote, body, size);
    assert_string_equal(quote, expected);
}

static void test_quotes_of_bodies_are_printable(void **state) {
    (void)state;
    char body[300], expected[QUOTE_MAX];
    check_quote("", 0, "");
    check_quote("<html>\n", 7, "<html>\n");
    check_quote("a\0b\xff\xc3\xa4", 6, "a\\x00b\\xff\\xc3\\xa4");
    memset(body, 'a', sizeof body);
    memset(expected, 'a', sizeof expected);
    memcpy(expected + QUOTE_MAX - 8, "...", 4);
    check_quote(body, sizeof body, expected);
    memset(body, 0x80, sizeof body);
    char quote[QUOTE_MAX];
    reply_quote(quote, body, sizeof body);
    assert_true(strlen(quote) < QUOTE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotes_of_bodies_are_printable),
        cmocka_unit_test(test_good_replies_are_accepted),
        cmocka_unit_test(test_replies_with_another_range_are_refused),
        cmocka_unit_test(test_contradicting_headers_are_refused),
        cmocka_unit_test(test_whole_objects_are_refused),
        cmocka_unit_test(test_changed_objects_are_recognised),
        cmocka_unit_test(test_changed_by_time),
        cmocka_unit_test(test_probes_learn_size_and_etag),
        cmocka_unit_test(test_probe_of_a_server_without_206),
        cmocka_unit_test(test_statuses_have_their_verdicts),
        cmocka_unit_test(test_codes_of_errors_are_read),
        cmocka_unit_test(test_dates_are_read),
        cmocka_unit_test(test_weak_etags_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
