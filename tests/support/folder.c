#define _GNU_SOURCE
#include "support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char base[512];

static int enter_below(const char *root) {
    snprintf(base, sizeof base, "%.200s/recmap-test-XXXXXX", root);
    return !mkdtemp(base) || chdir(base);
}

int folder_enter(void **state) {
    (void)state;
    /* In memory where that is possible: tests sync a great deal. */
    const char *asked = getenv("TMPDIR");
    const char *root = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    return enter_below(asked && *asked ? asked : root);
}

int folder_enter_on_device(void **state) {
    (void)state;
    return enter_below("/tmp");
}

int folder_leave(void **state) {
    (void)state;
    char command[2 * sizeof base];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return chdir("/") || system(command);
}

void file_write(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("cannot create %s", path);
    if (size) assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

struct buffer file_read(const char *path) {
    struct buffer read = BUFFER_INIT;
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    char block[1 << 16];
    size_t size;
    while ((size = fread(block, 1, sizeof block, file))) buffer_add(&read, block, size);
    assert_int_equal(fclose(file), 0);
    if (!read.data) read.data = must_realloc(NULL, 1);
    return read;
}

bool file_exists(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

size_t folder_count(void) {
    DIR *folder = opendir(".");
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(folder);
    return count;
}

int64_t file_time(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

void file_set_time(const char *path, int64_t time_ns) {
    struct timespec times[2] = {{0, UTIME_OMIT},
                                {.tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

void file_alter(const char *path, uint64_t offset, const void *data, size_t size) {
    int64_t time_ns = file_time(path);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, size, (off_t)offset), size);
    assert_int_equal(close(fd), 0);
    file_set_time(path, time_ns);
}

void assert_same_file(const char *path, const char *other) {
    struct buffer a = file_read(path), b = file_read(other);
    size_t at = 0;
    while (at < a.size && at < b.size && a.data[at] == b.data[at]) at++;
    if (a.size != b.size || at < a.size)
        fail_msg("%s (%zu bytes) and %s (%zu bytes) differ at byte %zu", path, a.size, other,
                 b.size, at);
    buffer_deinit(&a);
    buffer_deinit(&b);
}

const char *shared_data(void) {
    const char *named = getenv("RECMAP_TEST_DATA");
    const char *path = named && *named ? named : RECMAP_SOURCE_DIR "/../shared/data";
    if (file_exists(path)) return path;
    printf("skipped: no data at %s\n", path);
    return NULL;
}

bool is_long(void) {
    const char *asked = getenv("RECMAP_TEST_LONG");
    return asked && !strcmp(asked, "1");
}
