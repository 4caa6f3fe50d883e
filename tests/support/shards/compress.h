/* GZIP and ZLIB files in the plainest way: what is stored in them is not made smaller. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_COMPRESS_H
#define RECMAP_TESTS_SUPPORT_SHARDS_COMPRESS_H

#include "support/buffer.h"

/* Appends a member of a GZIP file, or a ZLIB stream, that inflates to `bytes`. */
void compress_gzip(struct buffer *buffer, const uint8_t *bytes, size_t size);
void compress_zlib(struct buffer *buffer, const uint8_t *bytes, size_t size);

#endif
