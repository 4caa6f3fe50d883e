/* A mapped shard file. */
#ifndef RECMAP_FORMAT_SHARDS_SHARD_BYTES_H
#define RECMAP_FORMAT_SHARDS_SHARD_BYTES_H

#include <stdbool.h>

#include <recmap/status.h>

#include "base/os/map.h"
#include "base/os/source.h"
#include "format/deflate/compression.h"

struct shard_bytes {
    const uint8_t *data;
    uint64_t size;
    struct file_map *map;
};

#define SHARD_BYTES_INIT                                                                           \
    { NULL, 0, NULL }

/* Detects the compression of a shard by its first bytes. Errors: as source_read. */
recmap_status shard_bytes_detect(enum compression *kind, struct source *source,
                                 recmap_error *error);

/* Maps the file. The descriptor may be closed afterwards. Errors: IO; NO_MEMORY. */
recmap_status shard_bytes_open(struct shard_bytes *bytes, int fd, uint64_t file_size,
                               const char *path, recmap_error *error);

/* The same, but reads the file into memory if it cannot be mapped. */
recmap_status shard_bytes_open_or_read(struct shard_bytes *bytes, int fd, uint64_t file_size,
                                       const char *path, recmap_error *error);
void shard_bytes_close(struct shard_bytes *bytes);

/* Returns true if the file was truncated while it was mapped. The guard then replaced the missing
 * pages by zeros, so everything read since may be wrong. */
bool shard_bytes_was_cut(const struct shard_bytes *bytes);

#endif
