/* A file whose pages change after they were read: the structural check follows only the bytes that
 * it has checked. pages.c is compiled in here with functions that change the file at the worst
 * moment, when a value is listed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/array.h"
#include "base/os/file.h"

static recmap_status note_read(int fd, void *out, size_t size, uint64_t offset, const char *name,
                               recmap_error *error);
static bool change_and_reserve(void *array, size_t *capacity, size_t count, size_t item_size);

#define file_read_at note_read
#define array_reserve change_and_reserve
#include "index/store/pages.c"
#undef file_read_at
#undef array_reserve

#include <cmocka.h>

#include "fixture.h"

void sample_write(const char *path); /* support/index/store_file.h also names what pages.c names */

enum { READS_MAX = 100 };

/* What has been read of the file, which is `changed` from then on. */
static struct {
    int fd; /* -1: nothing is changed */
    uint64_t offsets[READS_MAX];
    size_t sizes[READS_MAX];
    size_t count;
} changed = {.fd = -1};

static recmap_status note_read(int fd, void *out, size_t size, uint64_t offset, const char *name,
                               recmap_error *error) {
    assert_true(changed.count < READS_MAX);
    changed.offsets[changed.count] = offset;
    changed.sizes[changed.count++] = size;
    return file_read_at(fd, out, size, offset, name, error);
}

static bool change_and_reserve(void *array, size_t *capacity, size_t count, size_t item_size) {
    static const uint8_t rubbish[1 << 16] = {0xee};
    for (size_t i = 0; changed.fd >= 0 && i < changed.count; i++)
        assert_true(pwrite(changed.fd, rubbish, changed.sizes[i], (off_t)changed.offsets[i]) > 0);
    return array_reserve(array, capacity, count, item_size);
}

static struct page_listing list_values(int fd, uint64_t size) {
    struct page_listing listing;
    recmap_error error = RECMAP_ERROR_INIT;
    struct page_source source = {.fd = fd, .size = size, .path = path};
    changed.count = 0;
    expect_ok(pages_check(&listing, &source, (uint32_t)sysconf(_SC_PAGESIZE), &error), &error);
    return listing;
}

static void test_pages_that_change_after_they_were_read(void **state) {
    (void)state;
    sample_write(path);
    struct stat stat;
    int fd = open(path, O_RDWR);
    assert_int_equal(fstat(fd, &stat), 0);
    uint64_t size = (uint64_t)stat.st_size / 4096 * 4096;
    struct page_listing expected = list_values(fd, size);
    changed.fd = fd;
    struct page_listing listing = list_values(fd, size);
    changed.fd = -1;
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count = expected.tables[table].count;
        assert_int_equal(listing.tables[table].count, count);
        for (size_t i = 0; i < count; i++) {
            const struct page_value *value = &listing.tables[table].values[i];
            assert_int_equal(value->offset, expected.tables[table].values[i].offset);
            assert_int_equal(value->size, expected.tables[table].values[i].size);
        }
    }
    page_listing_deinit(&expected);
    page_listing_deinit(&listing);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pages_that_change_after_they_were_read, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
