/* An empty folder for a test, and files in it. What fails ends the test. */
#ifndef RECMAP_TESTS_SUPPORT_FOLDER_H
#define RECMAP_TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "support/buffer.h"

enum { PATH_ROOM = 1024 };

/* For cmocka_unit_test_setup_teardown: the test runs inside a new folder, which then vanishes. */
int folder_enter(void **state);
/* The same on a device, whose files can be dropped from the page cache and be read past it. */
int folder_enter_on_device(void **state);
int folder_leave(void **state);

void file_write(const char *path, const void *data, size_t size);
struct buffer file_read(const char *path);
bool file_exists(const char *path);

/* The files in the folder that the test is in. */
size_t folder_count(void);

/* The time of last change, ns since 1970. */
int64_t file_time(const char *path);
void file_set_time(const char *path, int64_t time_ns);

/* Writes in place, as if nothing had changed: the time of last change stays. */
void file_alter(const char *path, uint64_t offset, const void *data, size_t size);

void assert_same_file(const char *path, const char *other);

/* The folder with data of other projects, or NULL: then the test says so and is skipped. */
const char *shared_data(void);

/* Returns true if the long campaigns are asked for: RECMAP_TEST_LONG=1. */
bool is_long(void);

#endif
