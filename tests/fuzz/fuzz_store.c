/* Any bytes as a sealed store: opened as they are, and with every hash made right, in both modes.
 * All values are touched, whether they match their hashes or not. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "index/store/seal.h"
#include "support/index/store_file.h"

/* Opens the store; a sum over its keys and values, 1 when it is refused. */
static uint64_t read_store(const char *path, bool in_memory) {
    uint64_t sum = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened;
    struct store_options options = {.in_memory = in_memory};
    if (store_open(&opened, path, &options, &error) != RECMAP_OK) {
        if (!error.message[0]) abort();
        return 1;
    }
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        const struct store_value *values = store_values(opened, (enum store_table)table, &count);
        for (size_t i = 0; i < count; i++) {
            sum += store_check(opened, (enum store_table)table, i, &error) == RECMAP_OK;
            sum = sum * 31 + values[i].key.chunk + values[i].key.series;
            for (size_t at = 0; at < values[i].size; at++) sum = sum * 31 + values[i].data[at];
        }
    }
    store_close(opened);
    return sum;
}

static void read_twice(int fd, const struct store_file *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (ftruncate(fd, 0) || pwrite(fd, file->bytes, file->size, 0) != (ssize_t)file->size) abort();
    if (read_store(path, false) != read_store(path, true)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct store_file given = {(uint8_t *)data, size};
    struct store_file file = file_copy(&given);
    int fd = memfd_create("store", MFD_CLOEXEC);
    if (fd < 0) abort();
    read_twice(fd, &file);
    file_reseal(&file);
    read_twice(fd, &file);
    close(fd);
    file_deinit(&file);
    return 0;
}
