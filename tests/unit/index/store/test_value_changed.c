/* A value that changes while it is copied: the copy has the bytes whose hash was checked. store.c
 * is compiled in here with a check that restores the file first. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "index/store/seal.h"

static bool restore_and_match(const uint8_t *prefix, enum store_table table, struct store_key key,
                              const uint8_t *data, size_t size);

#define value_prefix_matches restore_and_match
#include "index/store/store.c"
#undef value_prefix_matches

#include <cmocka.h>

#include "fixture.h"
#include "support/index/store_file.h"

static int fd = -1;
static off_t offset; /* of a byte of the file */
static uint8_t good; /* its right value */

static void set_byte(uint8_t byte) {
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
}

/* The parameters are as for value_prefix_matches. */
static bool restore_and_match(const uint8_t *prefix, enum store_table table, struct store_key key,
                              const uint8_t *data, size_t size) {
    if (fd >= 0) set_byte(good);
    return value_prefix_matches(prefix, table, key, data, size);
}

static void test_copy_of_a_changing_value(void **state) {
    (void)state;
    uint8_t expected[SAMPLE_VALUE_MAX], *copy = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    sample_write(path);
    size_t size = sample_value(expected, STORE_OFFSETS, 0);
    struct store *opened = open_store(NULL);
    const struct store_value *value = &opened->tables[STORE_OFFSETS].values[0];
    offset = value->data + size / 2 - opened->base;
    good = expected[size / 2];
    fd = open(path, O_RDWR);
    set_byte((uint8_t)~good);
    assert_int_equal(store_copy(&copy, opened, STORE_OFFSETS, 0, &error), RECMAP_CORRUPT);
    expect_ok(store_copy(&copy, opened, STORE_OFFSETS, 0, &error), &error);
    assert_memory_equal(copy, expected, size);
    free(copy);
    close(fd);
    fd = -1;
    store_close(opened);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_copy_of_a_changing_value, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
