/* The structural check alone, over bytes: every byte of every page that it reads is changed, and it
 * must refuse, or list values that lie within the file. The bytes are allocated exactly, so that a
 * sanitizer sees a read outside. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/file.h"
#include "index/store/pages.h"
#include "index/store/seal.h"
#include "support/index/store_file.h"

static char path[] = "/tmp/recmap-pages-XXXXXX";
static struct store_file sample;

static int enter(void **state) {
    (void)state;
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    sample_write(path);
    sample = file_load(path);
    return 0;
}

static int leave(void **state) {
    (void)state;
    file_deinit(&sample);
    return unlink(path);
}

/* The pages without the seal, in memory of just their size. */
static struct page_source copy_pages(void) {
    size_t size = sample.size - SEAL_SIZE;
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, sample.bytes, size);
    return (struct page_source){bytes, -1, size, "bytes"};
}

static void expect_sample(const struct page_listing *listing, const struct page_source *source) {
    static uint8_t expected[SAMPLE_VALUE_MAX];
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        assert_int_equal(listing->tables[table].count, sample_count((enum store_table)table));
        for (size_t i = 0; i < listing->tables[table].count; i++) {
            const struct page_value *value = &listing->tables[table].values[i];
            struct store_key key = sample_key((enum store_table)table, i);
            size_t size = sample_value(expected, (enum store_table)table, i);
            assert_int_equal(value->key.chunk, key.chunk);
            assert_int_equal(value->key.series, key.series);
            assert_int_equal(value->size, size + VALUE_PREFIX_SIZE);
            if (source->data)
                assert_memory_equal(source->data + value->offset + VALUE_PREFIX_SIZE, expected,
                                    size);
        }
    }
}

static void bytes_and_files_list_the_same(void **state) {
    (void)state;
    struct page_listing listing;
    recmap_error error = RECMAP_ERROR_INIT;
    struct page_source source = copy_pages();
    assert_int_equal(pages_check(&listing, &source, page_size_of(&sample), &error), RECMAP_OK);
    expect_sample(&listing, &source);
    page_listing_deinit(&listing);
    free((void *)source.data);
    source = (struct page_source){NULL, -1, source.size, path};
    assert_int_equal(file_open(&source.fd, path, &error), RECMAP_OK);
    assert_int_equal(pages_check(&listing, &source, page_size_of(&sample), &error), RECMAP_OK);
    expect_sample(&listing, &source);
    page_listing_deinit(&listing);
    file_close(source.fd);
}

/* False when refused. */
static bool check_listing(const struct page_source *source) {
    struct page_listing listing;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = pages_check(&listing, source, page_size_of(&sample), &error);
    if (status != RECMAP_OK) {
        assert_int_equal(status, RECMAP_CORRUPT);
        assert_true(error.message[0] && error.offset <= source->size);
        return false;
    }
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        for (size_t i = 0; i < listing.tables[table].count; i++) {
            const struct page_value *value = &listing.tables[table].values[i];
            assert_true(value->size >= VALUE_PREFIX_SIZE && value->offset < source->size &&
                        value->size <= source->size - value->offset);
        }
    page_listing_deinit(&listing);
    return true;
}

static size_t change_every_byte(const struct page_source *source, size_t offset, size_t size) {
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x10};
    size_t refused = 0;
    uint8_t *bytes = (uint8_t *)source->data;
    for (size_t at = offset; at < offset + size; at++)
        for (size_t i = 0; i < sizeof changes; i++) {
            bytes[at] ^= changes[i];
            refused += !check_listing(source);
            bytes[at] ^= changes[i];
        }
    return refused;
}

static void every_byte_that_is_read_may_be_wrong(void **state) {
    (void)state;
    struct page_source source = copy_pages();
    size_t page_size = page_size_of(&sample);
    uint8_t *pages[] = {sample.bytes,
                        sample.bytes + page_size,
                        names_page(&sample),
                        root_of(&sample, STORE_IDS),
                        root_of(&sample, STORE_OFFSETS),
                        child_of(&sample, root_of(&sample, STORE_IDS), 0)};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        size_t size = i < 2 ? META_END : page_size;
        size_t refused = change_every_byte(&source, (size_t)(pages[i] - sample.bytes), size);
        assert_true(refused > 100);
    }
    assert_true(check_listing(&source));
    free((void *)source.data);
}

/* Bytes of values, of their pages' headers, and of free space are not looked at. */
static void values_are_not_read(void **state) {
    (void)state;
    struct page_source source = copy_pages();
    uint8_t *node = node_of(root_of(&sample, STORE_OFFSETS), 5);
    uint64_t first = get64(node + NODE_LARGE_PAGE);
    assert_int_equal(
        change_every_byte(&source, first * page_size_of(&sample), page_size_of(&sample)), 0);
    free((void *)source.data);
}

/* Fewer pages than the metas say, then fewer than the trees name. */
static void every_length_is_refused(void **state) {
    (void)state;
    struct page_source source = copy_pages();
    for (uint64_t count = 0; count < page_count_of(&sample); count++) {
        struct page_source cut = source;
        uint8_t *bytes = malloc(count * page_size_of(&sample) + 1);
        assert_non_null(bytes);
        memcpy(bytes, source.data, count * page_size_of(&sample));
        cut.data = bytes;
        cut.size = count * page_size_of(&sample);
        assert_false(check_listing(&cut));
        if (count < 2) {
            free(bytes);
            continue;
        }
        put64(bytes + META_LAST_PAGE, count - 1);
        put64(bytes + page_size_of(&sample) + META_LAST_PAGE, count - 1);
        /* The last page is of the list of free pages, which is not read. */
        assert_int_equal(check_listing(&cut), count + 1 == page_count_of(&sample));
        free(bytes);
    }
    free((void *)source.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_files_list_the_same),
        cmocka_unit_test(every_byte_that_is_read_may_be_wrong),
        cmocka_unit_test(values_are_not_read),
        cmocka_unit_test(every_length_is_refused),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
