/* The memory that opening a forged index takes: in proportion to its size, though its hashes and
 * its seal are right. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <recmap/dataset.h>

#include "base/core/proto.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/forged.h"
#include "support/index/sample.h"
#include "support/sanitizers.h"

#include <cmocka.h>

enum { ADDED_SIZE = 17000000 };

/* Adds columns without name and type to the manifest: each is two bytes, and far more in memory. */
static void add_empty_columns(struct forged_value *manifest) {
    enum { FIELD_COLUMNS = 0x5a, MESSAGE_SIZE = 2 };
    uint8_t *bytes = realloc(manifest->data, manifest->size + ADDED_SIZE);
    assert_non_null(bytes);
    for (size_t i = 0; i < ADDED_SIZE; i += MESSAGE_SIZE) {
        bytes[manifest->size + i] = FIELD_COLUMNS;
        bytes[manifest->size + i + 1] = 0;
    }
    manifest->data = bytes;
    manifest->size += ADDED_SIZE;
}

static void forge(const char *path) {
    sample_build("sample.rmx");
    struct forged index = forged_read("sample.rmx");
    forged_encode(&index);
    add_empty_columns(&index.tables[STORE_MANIFEST].values[0]);
    forged_write(&index, path);
    forged_deinit(&index);
}

/* Opens the index in a child process, which must be refused. Returns the growth of the child's
 * memory in KiB, or -1. */
static long measure_open(const char *path, int in_memory) {
    int results[2];
    assert_int_equal(pipe(results), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct rusage before, after;
        recmap_dataset *dataset = NULL;
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.index_in_memory = in_memory;
        getrusage(RUSAGE_SELF, &before);
        recmap_status status = recmap_dataset_open(&dataset, path, &options, NULL);
        getrusage(RUSAGE_SELF, &after);
        long growth = status == RECMAP_CORRUPT ? after.ru_maxrss - before.ru_maxrss : -1;
        _exit(write(results[1], &growth, sizeof growth) == sizeof growth ? 0 : 1);
    }
    long growth = -1;
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(read(results[0], &growth, sizeof growth), sizeof growth);
    close(results[0]);
    close(results[1]);
    return growth;
}

static void test_empty_columns_take_little_memory(void **state) {
    (void)state;
    forge("forged.rmx");
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        /* Beside the message: the file's pages, mapped or copied, and a copy of the value. */
        long limit = ((PROTO_GROWTH + 3) * (long)ADDED_SIZE + PROTO_FREE_SIZE) >> 10;
        if (has_address_sanitizer) limit *= 3;
        long growth = measure_open("forged.rmx", in_memory);
        assert_in_range(growth, 0, limit);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty_columns_take_little_memory, folder_enter,
                                        folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
