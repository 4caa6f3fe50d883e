/* Replies of WebHDFS: what is read from them, and that malformed ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/protocol/hdfs_reply.h"

static bool reads_status(struct hdfs_status *status, const char *text) {
    return hdfs_status_read(status, text, strlen(text));
}

/* The example of Hadoop's documentation. */
static void test_a_status(void **state) {
    (void)state;
    struct hdfs_status status;
    assert_true(reads_status(
        &status, "{\"FileStatus\":{\"accessTime\":0,\"blockSize\":0,\"group\":\"supergroup\","
                 "\"length\":1234,\"modificationTime\":1320173277227,\"owner\":\"webuser\","
                 "\"pathSuffix\":\"\",\"permission\":\"777\",\"replication\":0,"
                 "\"type\":\"FILE\"}}\n"));
    assert_int_equal(status.kind, HDFS_FILE);
    assert_int_equal(status.size, 1234);
    assert_int_equal(status.mtime_ns, 1320173277227000000);
    assert_true(reads_status(&status, "{\"FileStatus\": {\"type\": \"DIRECTORY\", \"length\": 0, "
                                      "\"ecPolicyObj\": {\"codec\": [1, {\"a\": \"}\"}]}}}"));
    assert_int_equal(status.kind, HDFS_FOLDER);
    assert_int_equal(status.mtime_ns, 0);
    assert_true(reads_status(&status, "{\"FileStatus\":{\"type\":\"SYMLINK\",\"length\":0}}"));
    assert_int_equal(status.kind, HDFS_OTHER);
}

static void test_a_malformed_status(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "{}",
        "[]",
        "{\"FileStatus\":{}}",
        "{\"FileStatus\":{\"type\":\"FILE\"}}",
        "{\"FileStatus\":{\"length\":1}}",
        "{\"FileStatus\":{\"length\":-1,\"type\":\"FILE\"}}",
        "{\"FileStatus\":{\"length\":9223372036854775808,\"type\":\"FILE\"}}",
        "{\"FileStatus\":{\"length\":1,\"type\":1}}",
        "{\"FileStatus\":{\"length\":1,\"type\":\"FILE\",\"modificationTime\":9300000000000}}",
        "{\"FileStatus\":{\"length\":1,\"type\":\"FILE\"}",
        "{\"FileStatus\":{\"length\":1,\"type\":\"FILE\"}} x",
        "{\"FileStatuses\":{\"length\":1,\"type\":\"FILE\"}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hdfs_status status;
        assert_false(reads_status(&status, texts[i]));
    }
}

static enum list_verdict read_folder(struct hdfs_folder *folder, const char *text) {
    *folder = (struct hdfs_folder){0};
    /* A copy without a NUL, so that a sanitizer sees reads past the end. */
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    enum list_verdict verdict = hdfs_folder_read(folder, copy, size);
    free(copy);
    return verdict;
}

#define FOLDER(entries) "{\"FileStatuses\":{\"FileStatus\":[" entries "]}}"
#define ENTRY(name, type) "{\"pathSuffix\":\"" name "\",\"type\":\"" type "\"}"

static void test_a_folder(void **state) {
    (void)state;
    struct hdfs_folder folder;
    assert_int_equal(
        read_folder(&folder, FOLDER(ENTRY("a \\u00e4", "FILE") ", " ENTRY("b", "DIRECTORY"))),
        LIST_OK);
    assert_int_equal(folder.count, 2);
    assert_string_equal(folder.entries[0].name, "a \xc3\xa4");
    assert_int_equal(folder.entries[0].kind, HDFS_FILE);
    assert_int_equal(folder.entries[1].kind, HDFS_FOLDER);
    hdfs_folder_deinit(&folder);
    assert_int_equal(read_folder(&folder, FOLDER("")), LIST_OK);
    assert_int_equal(folder.count, 0);
    hdfs_folder_deinit(&folder);
    assert_int_equal(read_folder(&folder, FOLDER(ENTRY("", "FILE"))), LIST_OK);
    assert_int_equal(folder.count, 0);
    hdfs_folder_deinit(&folder);
}

static void test_a_malformed_folder(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "{}",
        "{\"FileStatuses\":{}}",
        "{\"FileStatuses\":{\"FileStatus\":{}}}",
        "{\"FileStatuses\":{\"FileStatus\":[",
        "{\"FileStatuses\":{\"FileStatus\":[]}",
        FOLDER("{\"type\":\"FILE\"}"),
        FOLDER("{\"pathSuffix\":\"a\"}"),
        FOLDER(ENTRY("a", "FILE") ENTRY("b", "FILE")),
        FOLDER(ENTRY("a", "FILE") ","),
        FOLDER(ENTRY("..", "DIRECTORY")),
        FOLDER(ENTRY(".", "FILE")),
        FOLDER(ENTRY("a/b", "FILE")),
        FOLDER(ENTRY("a\\u0000", "FILE")),
        FOLDER(ENTRY("\\u002e\\u002e", "FILE")),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hdfs_folder folder;
        assert_int_equal(read_folder(&folder, texts[i]), LIST_MALFORMED);
        hdfs_folder_deinit(&folder);
    }
}

#define PAGE(entries, rest) "{\"DirectoryListing\":{\"partialListing\":" FOLDER(entries) rest "}}"
#define REMAINING(count) ",\"remainingEntries\":" count

static enum list_verdict read_page(struct hdfs_folder *folder, bool *has_more, const char *text) {
    *folder = (struct hdfs_folder){0};
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    enum list_verdict verdict = hdfs_page_read(folder, has_more, copy, size);
    free(copy);
    return verdict;
}

static void check_page(const char *text, size_t count, bool has_more) {
    struct hdfs_folder folder;
    bool found_more;
    assert_int_equal(read_page(&folder, &found_more, text), LIST_OK);
    assert_int_equal(folder.count, count);
    assert_int_equal(found_more, has_more);
    hdfs_folder_deinit(&folder);
}

static void test_pages(void **state) {
    (void)state;
    check_page(PAGE(ENTRY("a", "FILE") "," ENTRY("b", "DIRECTORY"), REMAINING("7")), 2, true);
    check_page(PAGE(ENTRY("a", "FILE"), REMAINING("0")), 1, false);
    check_page(PAGE("", REMAINING("0") ",\"other\":{\"a\":[1]}"), 0, false);
    check_page("{\"DirectoryListing\":{\"remainingEntries\":1,\"partialListing\":" FOLDER(
                   ENTRY("a", "FILE")) "}}\n",
               1, true);
}

static void test_malformed_pages(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        FOLDER(ENTRY("a", "FILE")),
        "{\"DirectoryListing\":{}}",
        "{\"DirectoryListing\":{\"remainingEntries\":0}}",
        PAGE(ENTRY("a", "FILE"), ""),
        PAGE(ENTRY("a", "FILE"), REMAINING("-1")),
        PAGE(ENTRY("a", "FILE"), REMAINING("true")),
        PAGE("", REMAINING("1")),                /* the next page would begin where this one does */
        PAGE(ENTRY("", "FILE"), REMAINING("1")), /* so would it here */
        PAGE(ENTRY("..", "FILE"), REMAINING("0")),
        PAGE(ENTRY("a", "FILE"), REMAINING("0") ",\"partialListing\":" FOLDER("")),
        PAGE(ENTRY("a", "FILE"), REMAINING("0")) "}",
        "{\"DirectoryListing\":{\"remainingEntries\":0,\"partialListing\":" FOLDER(""),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hdfs_folder folder;
        bool has_more;
        assert_int_equal(read_page(&folder, &has_more, texts[i]), LIST_MALFORMED);
        hdfs_folder_deinit(&folder);
    }
}

static void check_exception(const char *body, const char *expected) {
    char code[CODE_MAX];
    hdfs_find_exception(code, body, strlen(body));
    assert_string_equal(code, expected);
}

static void test_exceptions(void **state) {
    (void)state;
    check_exception("{\"RemoteException\":{\"exception\":\"FileNotFoundException\","
                    "\"javaClassName\":\"java.io.FileNotFoundException\"}}",
                    "FileNotFoundException");
    /* Cut after the exception. */
    check_exception("{\"RemoteException\":{\"message\":\"a}\",\"exception\":\"InvalidToken\",\"ja",
                    "InvalidToken");
    check_exception("{\"RemoteException\":{\"exception\":\"a b\"}}", "");
    check_exception("{\"RemoteException\":{\"exception\":\"\"}}", "");
    check_exception("{\"RemoteException\":{\"exception\":1}}", "");
    check_exception("{\"RemoteException\":{}}", "");
    check_exception("<html>", "");
    check_exception("", "");
}

static bool is_cut(const char *text) {
    return hdfs_is_cut(text, strlen(text));
}

static void test_replies_that_were_cut(void **state) {
    (void)state;
    assert_true(is_cut("{"));
    assert_true(is_cut(" {\"a\": {}, "));
    assert_false(is_cut("{\"a\": {}}\r\n"));
    assert_false(is_cut("<a>"));
    assert_false(is_cut(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_status),   cmocka_unit_test(test_a_malformed_status),
        cmocka_unit_test(test_a_folder),   cmocka_unit_test(test_a_malformed_folder),
        cmocka_unit_test(test_pages),      cmocka_unit_test(test_malformed_pages),
        cmocka_unit_test(test_exceptions), cmocka_unit_test(test_replies_that_were_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
