/* Files that are not TFRecord: the error says what they are and what to do. Files that only
 * resemble another format are not reported as that format. */
#include "format/framing/sniff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/oracle.h"

static recmap_error index_error(const void *data, size_t size) {
    const char *name = "shard";
    recmap_error error = RECMAP_ERROR_INIT;
    file_write(name, data, size);
    assert_int_equal(index_try("x.rmx", NULL, &name, 1, &error), RECMAP_CORRUPT);
    assert_string_equal(error.path, "shard");
    assert_true(error.advice[0]);
    return error;
}

static void test_kinds_of_files_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *name;
        const char *advice;
    } kinds[] = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2\nsize 12345\n",
         "is not a TFRecord file: it is a Git LFS pointer", "git lfs pull"},
        {"<!DOCTYPE html>\n<html><body>404</body></html>", "an HTML page", "fetch the file again"},
        {"<html><head></head></html>", "an HTML page", "fetch the file again"},
        {"one line of text\nand another\n", "text", "--framing lines"},
        {"PK\x03\x04zipzipzip", "a ZIP archive", "unpack"},
        {"BZh91AY&SY", "compressed with bzip2", "bzip2 -d"},
        {"\x28\xb5\x2f\xfd zstandard", "compressed with Zstandard", "zstd -d"},
        {"\xfd"
         "7zXZ rest",
         "compressed with xz", "xz -d"},
        {"RMXview\nand what follows", "a selection of recmap", ".rmv"},
        {"\x89PNG\r\n\x1a\n", "a PNG picture", "name TFRecord files"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        recmap_error error = index_error(kinds[i].text, strlen(kinds[i].text));
        assert_non_null(strstr(error.message, kinds[i].name));
        assert_non_null(strstr(error.advice, kinds[i].advice));
        assert_int_equal(error.offset, 0);
    }
}

/* What nothing tells is damaged, or of another kind; a few bytes tell nothing. */
static void test_unknown_bytes_are_called_damaged(void **state) {
    (void)state;
    static const uint8_t bytes[100] = {6, 200, 190, 1, 2, 3, 4, 5};
    recmap_error error = index_error(bytes, sizeof bytes);
    assert_null(strstr(error.message, "is not a TFRecord file"));
    assert_non_null(strstr(error.advice, "needs --framing"));
    for (size_t size = 1; size < 8; size++) {
        error = index_error("textual", size);
        assert_null(strstr(error.message, "it is text"));
        assert_non_null(strstr(error.advice, "needs --framing"));
    }
}

/* A TFRecord file whose first record is damaged is one all the same. */
static void test_damaged_first_record(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0x8b1f, 0x178, 0x9c78, 0x685a42, 0x4b50, 0x20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct buffer bytes = BUFFER_INIT;
        uint8_t *payload = must_realloc(NULL, sizes[i]);
        memset(payload, 'a', sizes[i]);
        oracle_add_record(&bytes, payload, sizes[i]);
        oracle_add_record(&bytes, "second", 6);
        bytes.data[13] ^= 1;
        recmap_error error = index_error(bytes.data, bytes.size);
        assert_non_null(strstr(error.message, "data CRC"));
        assert_int_equal(error.record, 0);
        bytes.data[13] ^= 1;
        bytes.data[9] ^= 1;
        error = index_error(bytes.data, bytes.size);
        assert_non_null(strstr(error.message, "length CRC"));
        assert_int_equal(error.record, 0);
        recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
        options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
        assert_int_equal(index_bytes("x.rmx", &options, "shard", &bytes).record_count, 1);
        free(payload);
        buffer_deinit(&bytes);
    }
}

/* Any bytes may be inspected; nothing past their end is read. */
static void test_short_files_are_not_read_past_their_end(void **state) {
    (void)state;
    struct rng random = {3};
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[32];
        size_t size = (size_t)rng_below(&random, sizeof bytes);
        for (size_t b = 0; b < size; b++) bytes[b] = (uint8_t)rng_next(&random);
        uint8_t *exact = must_copy(bytes, size);
        const struct file_kind *kind = sniff_file(exact, size);
        if (kind) assert_true(kind->name[0] && kind->advice[0]);
        free(exact);
    }
    assert_null(sniff_file((const uint8_t *)"", 0));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(kinds_of_files_are_named),
        TEST(unknown_bytes_are_called_damaged),
        TEST(damaged_first_record),
        TEST(short_files_are_not_read_past_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
