/* The lock and the space of a cache that processes share. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/file.h"
#include "base/os/private_file.h"
#include "storage/cache/disk_cache.h"
#include "support/folder.h"
#include "support/index/build.h"

static struct disk_cache *open_cache(uint64_t size) {
    struct disk_cache *cache = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(disk_cache_open(&cache, "cache", size, &error), &error);
    return cache;
}

/* Returns true if nobody holds the lock of the usage. */
static bool is_unlocked(void) {
    int fd;
    bool is_held = false;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(private_open(&fd, "cache/usage", false, &error), &error);
    ASSERT_OK(private_lock(&is_held, fd, PRIVATE_TRY_EXCLUSIVE, "cache/usage", &error), &error);
    file_close(fd);
    return is_held;
}

/* The child inherits the locked file, and outlives the parent's use of it. */
static void test_a_forked_child_does_not_keep_the_lock(void **state) {
    (void)state;
    int pipe_ends[2], status;
    char byte;
    struct disk_cache *cache = open_cache(1 << 20);
    assert_int_equal(pipe(pipe_ends), 0);
    int lock = disk_cache_lock(cache);
    assert_true(lock >= 0);
    assert_false(is_unlocked());
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        close(pipe_ends[1]);
        _exit(read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    disk_cache_unlock(lock);
    bool is_released = is_unlocked();
    close(pipe_ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is_released);
    close(pipe_ends[0]);
    disk_cache_close(cache);
}

/* Someone else's link to a file of this user must not become a file of the cache. */
static void test_hard_links_are_refused(void **state) {
    (void)state;
    struct disk_cache *cache = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    file_write("mine", "text", 4);
    disk_cache_close(open_cache(1 << 20));
    assert_int_equal(unlink("cache/usage"), 0);
    assert_int_equal(link("mine", "cache/usage"), 0);
    assert_int_equal(disk_cache_open(&cache, "cache", 1 << 20, &error), RECMAP_IO);
    assert_string_equal(error.message, "has several names (hard links)");
    assert_string_equal(error.path, "cache/usage");
    assert_non_null(strstr(error.advice, "as the cache"));
    struct buffer mine = file_read("mine");
    assert_int_equal(mine.size, 4);
    buffer_deinit(&mine);
}

static void assert_refused(const char *message) {
    struct disk_cache *cache = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(disk_cache_open(&cache, "cache", 1 << 20, &error), RECMAP_IO);
    assert_null(cache);
    assert_string_equal(error.message, message);
    assert_string_equal(error.path, "cache/usage");
    assert_non_null(strstr(error.advice, "name a folder"));
}

/* A file that happens to be called `usage` is not overwritten, whatever its size;
 * one that was cut off, or that a power failure emptied, is written again. */
static void test_file_of_the_user(void **state) {
    (void)state;
    static const char *const texts[] = {"x", "12 GB on Monday\n",
                                        "this text has more bytes than the file of recmap has\n",
                                        "recmap cache 1\n, which is what it begins with, too\n"};
    disk_cache_close(open_cache(1 << 20));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        file_write("cache/usage", texts[i], strlen(texts[i]));
        assert_refused("was not written by recmap, which would overwrite it");
        struct buffer usage = file_read("cache/usage");
        assert_int_equal(usage.size, strlen(texts[i]));
        assert_memory_equal(usage.data, texts[i], usage.size);
        buffer_deinit(&usage);
    }
    for (size_t written = 0; written <= 16; written++)
        for (size_t size = written; size <= 32; size += 8) {
            char usage[32] = "";
            memcpy(usage, "recmap cache 1\n", written);
            file_write("cache/usage", usage, size);
            disk_cache_close(open_cache(1 << 20));
            struct buffer rewritten = file_read("cache/usage");
            assert_memory_equal(rewritten.data, "recmap cache 1\n", 16);
            buffer_deinit(&rewritten);
        }
}

/* The folder may be another user's, as in a container, but not the files in it. */
static void test_file_of_another_user(void **state) {
    (void)state;
    if (geteuid()) skip(); /* only root can give a file away */
    disk_cache_close(open_cache(1 << 20));
    assert_int_equal(chown("cache", 12345, 12345), 0);
    disk_cache_close(open_cache(1 << 20));
    assert_int_equal(chown("cache/usage", 12345, 12345), 0);
    assert_refused("is not a regular file of this user");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_forked_child_does_not_keep_the_lock, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_hard_links_are_refused, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_file_of_the_user, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_file_of_another_user, folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
