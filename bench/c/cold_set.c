#include "cold_set.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <recmap/recmap.h>

#include "measure.h"
#include "random.h"
#include "set.h"

enum { OVERHEAD = 16, PIECE = 128 << 10 };

static void write_shard(const char *path, uint64_t frame_size, uint64_t count, uint64_t seed) {
    static uint64_t payload[COLD_FRAME_MAX / 8];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer;
    must(recmap_writer_create(&writer, path, NULL, &error), &error);
    for (uint64_t i = 0; i < COLD_FRAME_MAX / 8; i++) payload[i] = random_next(&seed);
    for (uint64_t i = 0; i < count; i++) {
        payload[0] = i;
        must(recmap_writer_write(writer, payload, frame_size - OVERHEAD, &error), &error);
    }
    must(recmap_writer_finish(writer, &error), &error);
    recmap_writer_destroy(writer);
}

static void write_set(const char *folder, const char *name, uint64_t size, uint64_t frame_size) {
    char path[SET_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (mkdir(path, 0777)) exit(4);
    for (unsigned i = 0; i < COLD_SHARDS; i++) {
        set_shard_path(path, folder, name, i, COLD_SHARDS);
        write_shard(path, frame_size, size / COLD_SHARDS / frame_size, i);
    }
}

void cold_set_make(const char *folder, const char *name, uint64_t size, uint64_t frame_size) {
    recmap_shards *shards;
    if (set_find(&shards, folder, name)) recmap_shards_destroy(shards);
    else write_set(folder, name, size, frame_size);
    recmap_dataset_close(set_open(folder, name, false, NULL)); /* builds its index */
}

static int open_shard(const char *folder, const char *name, unsigned shard) {
    char path[SET_PATH_SIZE];
    set_shard_path(path, folder, name, shard, COLD_SHARDS);
    int fd = open(path, O_RDONLY);
    if (fd < 0) exit(4);
    return fd;
}

void cold_set_drop(const char *folder, const char *name) {
    for (unsigned i = 0; i < COLD_SHARDS; i++) {
        int fd = open_shard(folder, name, i);
        if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) exit(4);
        close(fd);
    }
}

void cold_set_read(const char *folder, const char *name) {
    static char piece[PIECE];
    for (unsigned i = 0; i < COLD_SHARDS; i++) {
        ssize_t size;
        int fd = open_shard(folder, name, i);
        do size = read(fd, piece, sizeof piece);
        while (size > 0);
        if (size < 0) exit(4);
        close(fd);
    }
}
