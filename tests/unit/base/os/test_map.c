/* Maps of files: their bytes, and files that are cut while they are mapped. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/file.h"
#include "base/os/map.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/sanitizers.h"

enum { PAGE_MAX = 65536, SIZE = 4 * PAGE_MAX + 10 };

static struct file_map *map_file(const char *path, size_t size) {
    int fd = -1;
    struct file_map *map = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(file_open(&fd, path, &error), &error);
    ASSERT_OK(map_create(&map, fd, size, path, &error), &error);
    file_close(fd);
    return map;
}

static uint8_t *write_file(void) {
    uint8_t *data = must_realloc(NULL, SIZE);
    for (size_t i = 0; i < SIZE; i++) data[i] = (uint8_t)(i * 7 + i / 256 + 1);
    file_write("file", data, SIZE);
    return data;
}

static void test_map_has_the_bytes_of_the_file(void **state) {
    (void)state;
    uint8_t *data = write_file();
    struct file_map *map = map_file("file", SIZE);
    assert_int_equal(map->size, SIZE);
    for (enum map_advice advice = MAP_ADVICE_RANDOM; advice <= MAP_ADVICE_WILL_NEED; advice++)
        map_advise(map, 5, SIZE - 5, advice);
    assert_memory_equal(map->data, data, SIZE);
    assert_true(map_is_resident(map, 0, SIZE));
    assert_false(map->was_cut);
    map_destroy(map);
    file_write("empty", "", 0);
    map = map_file("empty", 0);
    assert_true(!map->data && !map->size);
    map_destroy(map);
    free(data);
}

/* With the guard, bytes past the end of a file that was cut read as zeros, and the map says so. A
 * second map of another file is not affected. */
static void test_guard_reads_zeros_past_the_end(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(guard_install(&error), &error);
    uint8_t *data = write_file();
    file_write("other", data, SIZE);
    struct file_map *map = map_file("file", SIZE), *other = map_file("other", SIZE);
    assert_int_equal(truncate("file", PAGE_MAX), 0);
    assert_memory_equal(map->data, data, PAGE_MAX);
    assert_false(map->was_cut);
    const volatile uint8_t *last = map->data + SIZE - 1;
    assert_int_equal(*last, 0);
    assert_true(map->was_cut);
    assert_memory_equal(other->data, data, SIZE);
    assert_false(other->was_cut);
    map_destroy(map);
    map_destroy(other);
    free(data);
}

static void test_writes_through_a_map_reach_the_file(void **state) {
    (void)state;
    int fd = -1;
    uint8_t *bytes = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(file_create_unnamed(&fd, "file", &error), &error);
    assert_int_equal(folder_count(), 0);
    ASSERT_OK(file_reserve(fd, SIZE, "file", &error), &error);
    ASSERT_OK(map_writable(&bytes, fd, SIZE, "file", &error), &error);
    memset(bytes, 0x5a, SIZE);
    unmap_writable(bytes, SIZE);
    uint8_t last = 0;
    ASSERT_OK(file_read_at(fd, &last, 1, SIZE - 1, "file", &error), &error);
    assert_int_equal(last, 0x5a);
    file_close(fd);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_map_has_the_bytes_of_the_file),
        IN_FOLDER(test_guard_reads_zeros_past_the_end),
        IN_FOLDER(test_writes_through_a_map_reach_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
