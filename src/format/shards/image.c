#include "format/shards/image.h"

#include <assert.h>

#include "base/core/error.h"

recmap_status image_detect(enum compression *kind, struct source *source, recmap_error *error) {
    uint8_t first[COMPRESSION_DETECT_SIZE];
    uint64_t file_size = source->stat.size;
    size_t size = file_size < sizeof first ? (size_t)file_size : sizeof first;
    RETURN_IF_FAILED(source_read(source, first, size, 0, error));
    *kind = compression_detect(first, size);
    return RECMAP_OK;
}

recmap_status image_open(struct shard_image *image, int fd, uint64_t file_size, const char *path,
                         recmap_error *error) {
    struct file_map *map;
    RETURN_IF_FAILED(map_create(&map, fd, (size_t)file_size, path, error));
    assert(map->size == file_size);
    *image = (struct shard_image){.data = map->data, .size = map->size, .map = map};
    return RECMAP_OK;
}

recmap_status image_open_or_read(struct shard_image *image, int fd, uint64_t file_size,
                                 const char *path, recmap_error *error) {
    struct file_map *map;
    RETURN_IF_FAILED(map_create_or_read(&map, fd, (size_t)file_size, path, error));
    *image = (struct shard_image){.data = map->data, .size = map->size, .map = map};
    return RECMAP_OK;
}

void image_close(struct shard_image *image) {
    map_destroy(image->map);
    *image = (struct shard_image)SHARD_IMAGE_INIT;
}

bool image_was_cut(const struct shard_image *image) {
    return image->map && image->map->was_cut;
}
