/* A GZIP file whose spans are known: each is one block of deflate that stores its bytes. Free of
 * cmocka, for fuzz targets. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_STORED_BLOCKS_H
#define RECMAP_TESTS_SUPPORT_SHARDS_STORED_BLOCKS_H

#include "index/tables/points.h"
#include "support/buffer.h"

/* Appends the file of `content`, and adds the seek points and checks of its spans, which have
 * `sizes`, together all of the content, each from 1 to 65535. */
void add_stored_blocks(struct buffer *file, struct point_list *points, const struct buffer *content,
                       const size_t *sizes, size_t count);

#endif
