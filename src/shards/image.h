/* A shard's file, mapped. */
#ifndef RECMAP_SHARDS_IMAGE_H
#define RECMAP_SHARDS_IMAGE_H

#include <stdbool.h>

#include <recmap/status.h>

#include "format/compression.h"
#include "os/map.h"

struct shard_image {
    const uint8_t *data;
    uint64_t size;
    struct file_map *map;
};

#define SHARD_IMAGE_INIT                                                                           \
    { NULL, 0, NULL }

/* What an open file is, by its first bytes. Errors: IO. */
recmap_status image_detect(compression *kind, int fd, uint64_t file_size, const char *path,
                           recmap_error *error);

/* Maps the file. The descriptor may be closed afterwards. Errors: IO; NO_MEMORY. */
recmap_status image_open(struct shard_image *image, int fd, uint64_t file_size, const char *path,
                         recmap_error *error);
void image_close(struct shard_image *image);

/* The guard had to put zeros into the mapped file: what was read since is worthless. */
bool image_was_cut(const struct shard_image *image);

#endif
