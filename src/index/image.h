/* The bytes in which a shard's records lie: its file, mapped, or what a compressed file inflates
 * to. */
#ifndef RECMAP_INDEX_IMAGE_H
#define RECMAP_INDEX_IMAGE_H

#include <stdbool.h>

#include <recmap/status.h>

#include "format/inflate.h"
#include "os/map.h"

/* More than this does not come out of one compressed shard. */
#define IMAGE_INFLATED_MOST ((uint64_t)8 << 30)

typedef struct shard_image {
    const uint8_t *data;
    uint64_t size;
    file_map *map;     /* of a plain file */
    uint8_t *inflated; /* of a compressed one */
} shard_image;

#define SHARD_IMAGE_INIT                                                                           \
    { NULL, 0, NULL, NULL }

/* What an open file is, by its first bytes. Errors: IO. */
recmap_status image_detect(compression *kind, int fd, uint64_t file_size, const char *path,
                           recmap_error *error);

/* Maps the file, or reads and inflates all of it. The descriptor may be closed afterwards.
 * Errors: IO; NO_MEMORY; CORRUPT naming the byte at which the compressed stream is bad. */
recmap_status image_open(shard_image *image, int fd, uint64_t file_size, compression kind,
                         const char *path, recmap_error *error);
void image_close(shard_image *image);

/* The guard had to put zeros into the mapped file: what was read since is worthless. */
bool image_was_cut(const shard_image *image);

#endif
