#include "format/shards/shard_bytes.h"

#include <assert.h>

#include "base/core/error.h"

recmap_status shard_bytes_detect(enum compression *kind, struct source *source,
                                 recmap_error *error) {
    uint8_t first[COMPRESSION_DETECT_SIZE];
    uint64_t file_size = source->stat.size;
    size_t size = file_size < sizeof first ? (size_t)file_size : sizeof first;
    RETURN_IF_FAILED(source_read(source, first, size, 0, error));
    *kind = compression_detect(first, size);
    return RECMAP_OK;
}

recmap_status shard_bytes_open(struct shard_bytes *bytes, int fd, uint64_t file_size,
                               const char *path, recmap_error *error) {
    struct file_map *map;
    RETURN_IF_FAILED(map_create(&map, fd, (size_t)file_size, path, error));
    assert(map->size == file_size);
    *bytes = (struct shard_bytes){.data = map->data, .size = map->size, .map = map};
    return RECMAP_OK;
}

recmap_status shard_bytes_open_or_read(struct shard_bytes *bytes, int fd, uint64_t file_size,
                                       const char *path, recmap_error *error) {
    struct file_map *map;
    RETURN_IF_FAILED(map_create_or_read(&map, fd, (size_t)file_size, path, error));
    *bytes = (struct shard_bytes){.data = map->data, .size = map->size, .map = map};
    return RECMAP_OK;
}

void shard_bytes_close(struct shard_bytes *bytes) {
    map_destroy(bytes->map);
    *bytes = (struct shard_bytes)SHARD_BYTES_INIT;
}

bool shard_bytes_was_cut(const struct shard_bytes *bytes) {
    return bytes->map && bytes->map->was_cut;
}
