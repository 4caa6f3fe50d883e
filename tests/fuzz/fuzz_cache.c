/* Any bytes over the file of a cached object: what is read through the cache is the object, and the
 * file describes itself or is refused.
 *
 * The input is a list of changes: three bytes of an offset, one with the number of bytes, and the
 * bytes. A number of 255 cuts the file at the offset. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/file.h"
#include "fuzz/fuzz.h"
#include "storage/cache/cache_file.h"
#include "storage/cache/cached_source.h"

enum { OBJECT_SIZE = 21000, CUT = 255, CHANGE = 4 };

static uint8_t object[OBJECT_SIZE];
static struct disk_cache *cache;
static char folder[] = "/tmp/recmap-fuzz-XXXXXX";
static char *path;        /* of the object's file in the cache */
static uint8_t *pristine; /* its contents when it has all blocks */
static size_t pristine_size;

static void check(bool holds) {
    if (!holds) abort();
}

static recmap_status read_object(size_t *failed, const struct source_read *reads, size_t count,
                                 struct interrupt *interrupt, recmap_error *error) {
    (void)interrupt;
    (void)error;
    *failed = 0;
    for (size_t i = 0; i < count; i++) {
        check(reads[i].offset <= OBJECT_SIZE && reads[i].size <= OBJECT_SIZE - reads[i].offset);
        memcpy(reads[i].data, object + reads[i].offset, reads[i].size);
    }
    return RECMAP_OK;
}

static void close_object(struct source *source) {
    free(source);
}

static const struct source_table object_table = {read_object, close_object, NULL, NULL};

static const struct cache_key key = {"s3://bucket/object", "\"tag\"", OBJECT_SIZE, 7};

static struct source *open_object(void) {
    struct source *source = malloc(sizeof *source);
    check(source != NULL);
    *source = (struct source){.table = &object_table,
                              .fd = -1,
                              .name = key.url,
                              .etag = key.etag,
                              .stat = {.size = key.size, .mtime_ns = key.mtime_ns}};
    cached_source_replace(&source, cache, true);
    return source;
}

static void read_through(void) {
    static uint8_t bytes[OBJECT_SIZE];
    struct source *source = open_object();
    for (size_t offset = 0; offset < OBJECT_SIZE; offset += 5000) {
        size_t left = OBJECT_SIZE - offset, size = left < 5000 ? left : 5000;
        struct source_read read = {
            .source = source, .data = bytes + offset, .size = size, .offset = offset};
        size_t failed;
        check(source_read_all(&failed, &read, 1, NULL, NULL) == RECMAP_OK);
    }
    check(!memcmp(bytes, object, OBJECT_SIZE));
    source_close(source);
}

static void remove_file(const char *name) {
    char *file = path_join(folder, name);
    if (file) remove(file);
    free(file);
}

static void remove_folder(void) {
    disk_cache_close(cache);
    remove(path);
    remove_file("usage");
    remove_file("lock");
    remove(folder);
    free(path);
    free(pristine);
}

static void read_file(void) {
    FILE *file = fopen(path, "rb");
    struct stat stat;
    check(file && !fstat(fileno(file), &stat));
    pristine_size = (size_t)stat.st_size;
    pristine = malloc(pristine_size);
    check(pristine && fread(pristine, 1, pristine_size, file) == pristine_size);
    fclose(file);
}

static void prepare(void) {
    char name[CACHE_NAME_SIZE];
    check(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < OBJECT_SIZE; i++) object[i] = (uint8_t)(i * 2654435761u >> 13);
    check(disk_cache_open(&cache, folder, UINT64_MAX / 4, NULL) == RECMAP_OK);
    cache_name_write(name, &key);
    path = path_join(folder, name);
    check(path != NULL);
    atexit(remove_folder);
    read_through();
    read_file();
}

static size_t change(uint8_t *bytes, size_t file_size, const uint8_t *data, size_t size) {
    while (size >= CHANGE) {
        size_t offset = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % pristine_size;
        size_t count = data[3];
        data += CHANGE;
        size -= CHANGE;
        if (count == CUT) return offset < file_size ? offset : file_size;
        if (count > size) count = size;
        if (count > file_size - offset) count = file_size - offset;
        memcpy(bytes + offset, data, count);
        data += count;
        size -= count;
    }
    return file_size;
}

static void write_changed(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(pristine_size);
    check(bytes != NULL);
    memcpy(bytes, pristine, pristine_size);
    size_t changed_size = change(bytes, pristine_size, data, size);
    FILE *file = fopen(path, "wb");
    check(file && fwrite(bytes, 1, changed_size, file) == changed_size && !fclose(file));
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!cache) prepare();
    write_changed(data, size);
    read_through();
    read_through(); /* what the first time stored */
    return 0;
}
