/* Any bytes over the file of a cached object, and over that of the spans of a compressed shard:
 * what is read through the cache is the object, or what the shard inflates to, and the files
 * describe themselves or are refused.
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
#include "base/os/list.h"
#include "dataset/spans/span_read.h"
#include "fuzz/fuzz.h"
#include "storage/cache/cache_file.h"
#include "storage/cache/cached_source.h"
#include "support/shards/stored_blocks.h"

enum { OBJECT_SIZE = 21000, CUT = 255, CHANGE = 4, PART = 5000, SPANS = 4 };

/* A file of the cache that has all blocks. */
struct pristine {
    char *path;
    uint8_t *bytes;
    size_t size;
};

static uint8_t object[OBJECT_SIZE];
static struct disk_cache *cache;
static char folder[] = "/tmp/recmap-fuzz-XXXXXX";
static struct pristine object_file, spans_file;

/* A shard that inflates to the object. */
static const size_t span_sizes[SPANS] = {4097, 8192, 3, OBJECT_SIZE - 4097 - 8192 - 3};
static struct buffer shard_bytes;
static struct point_list points;
static struct shard_entry entry = {.compression = COMPRESSION_GZIP, .size = OBJECT_SIZE};

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

static const struct source_table object_table = {read_object, close_object, NULL, NULL, NULL};

static const struct cache_key key = {"s3://bucket/object", "\"tag\"", OBJECT_SIZE, 7, 0};

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
    for (size_t offset = 0; offset < OBJECT_SIZE; offset += PART) {
        size_t left = OBJECT_SIZE - offset, size = left < PART ? left : PART;
        struct source_read read = {
            .source = source, .data = bytes + offset, .size = size, .offset = offset};
        size_t failed;
        check(source_read_all(&failed, &read, 1, NULL, NULL) == RECMAP_OK);
    }
    check(!memcmp(bytes, object, OBJECT_SIZE));
    source_close(source);
}

static struct file_map shard_map;

static struct span_source shard_source(void) {
    return (struct span_source){
        .entry = &entry, .path = "a.gz", .points = &points, .map = &shard_map};
}

/* Reads the shard through its stored spans, whose blocks are compared with their checksums. */
static void read_spans(bool maps) {
    static uint8_t bytes[OBJECT_SIZE];
    struct stored_spans_options options = {maps, true};
    struct span_reader reader = {.cache = span_cache_create(1), .source = shard_source()};
    reader.source.waypoints = waypoints_create();
    check(reader.cache && reader.source.waypoints);
    reader.stored = stored_spans_open(cache, &reader.source, &options);
    for (size_t offset = 0; offset < OBJECT_SIZE; offset += PART) {
        size_t left = OBJECT_SIZE - offset, size = left < PART ? left : PART;
        check(span_read(&reader, bytes + offset, size, offset, NULL) == RECMAP_OK);
    }
    check(!memcmp(bytes, object, OBJECT_SIZE));
    stored_spans_close(reader.stored);
    span_cache_destroy(reader.cache);
    waypoints_destroy(reader.source.waypoints);
}

static void make_shard(void) {
    struct buffer content = {object, OBJECT_SIZE, OBJECT_SIZE};
    add_stored_blocks(&shard_bytes, &points, &content, span_sizes, SPANS);
    entry.file_size = shard_bytes.size;
    entry.point_count = points.count;
    shard_map.data = shard_bytes.data;
    shard_map.size = shard_bytes.size;
}

static void remove_file(const char *name) {
    char *file = path_join(folder, name);
    if (file) remove(file);
    free(file);
}

static void remove_folder(void) {
    struct pristine *files[] = {&object_file, &spans_file};
    disk_cache_close(cache);
    for (size_t i = 0; i < 2; i++) {
        remove(files[i]->path);
        free(files[i]->path);
        free(files[i]->bytes);
    }
    remove_file("usage");
    remove_file("lock");
    remove(folder);
    points_deinit(&points);
    buffer_deinit(&shard_bytes);
}

static void read_file(struct pristine *pristine) {
    FILE *file = fopen(pristine->path, "rb");
    struct stat stat;
    check(file && !fstat(fileno(file), &stat));
    pristine->size = (size_t)stat.st_size;
    pristine->bytes = malloc(pristine->size);
    check(pristine->bytes && fread(pristine->bytes, 1, pristine->size, file) == pristine->size);
    fclose(file);
}

/* The path of the file of the spans: the one that is not the object's. */
static void find_spans_file(void) {
    struct path_list list = PATH_LIST_INIT;
    check(list_folder(&list, folder, cache_name_is_valid, NULL) == RECMAP_OK && list.count == 2);
    bool is_first = strcmp(list.paths[0], object_file.path) != 0;
    spans_file.path = strdup(list.paths[is_first ? 0 : 1]);
    check(spans_file.path != NULL);
    path_list_deinit(&list);
}

static void prepare(void) {
    char name[CACHE_NAME_SIZE];
    check(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < OBJECT_SIZE; i++) object[i] = (uint8_t)(i * 2654435761u >> 13);
    check(disk_cache_open(&cache, folder, UINT64_MAX / 4, NULL) == RECMAP_OK);
    cache_name_write(name, &key);
    object_file.path = path_join(folder, name);
    check(object_file.path != NULL);
    atexit(remove_folder);
    read_through();
    read_file(&object_file);
    make_shard();
    read_spans(false);
    find_spans_file();
    read_file(&spans_file);
}

static size_t change(uint8_t *bytes, size_t file_size, const uint8_t *data, size_t size) {
    while (size >= CHANGE) {
        size_t offset = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % file_size;
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

static void write_changed(const struct pristine *pristine, const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(pristine->size);
    check(bytes != NULL);
    memcpy(bytes, pristine->bytes, pristine->size);
    size_t changed_size = change(bytes, pristine->size, data, size);
    FILE *file = fopen(pristine->path, "wb");
    check(file && fwrite(bytes, 1, changed_size, file) == changed_size && !fclose(file));
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!cache) prepare();
    write_changed(&object_file, data, size);
    read_through();
    read_through(); /* what the first time stored */
    write_changed(&spans_file, data, size);
    read_spans(size & 1);
    read_spans(true);
    return 0;
}
