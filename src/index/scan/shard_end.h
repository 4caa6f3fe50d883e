/* The properties of a shard that are known when its last record has been found. */
#ifndef RECMAP_INDEX_SCAN_SHARD_END_H
#define RECMAP_INDEX_SCAN_SHARD_END_H

#include <stdint.h>

#include "base/os/file.h"
#include "format/deflate/compression.h"
#include "index/tables/points.h"

struct shard_end {
    struct file_stat stat; /* of its file; zeros if it is not known */
    uint64_t file_size;
    uint64_t start; /* the first byte of a part that is added to a file that was indexed before */
    uint64_t size;  /* of the bytes that contain the records: of the file, or after inflating */
    enum compression compression;
    int64_t mtime_ns;
    const char *etag;   /* of an object in a remote store; "" for a file */
    uint64_t tail_size; /* bytes after the last record that are neither a record nor damage */
    const struct point_list *points; /* of a compressed shard; unused for a plain one */
};

#endif
