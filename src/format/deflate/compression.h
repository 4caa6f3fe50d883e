/* Detects GZIP and ZLIB files by their first bytes. Pure. Sources: RFC 1950, 1952. */
#ifndef RECMAP_FORMAT_DEFLATE_COMPRESSION_H
#define RECMAP_FORMAT_DEFLATE_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZLIB };

/* Returns "none", "gzip" or "zlib", as stored in the index. */
const char *compression_name(enum compression kind);

/* The number of bytes at the start of a file that compression_detect examines. */
enum { COMPRESSION_DETECT_SIZE = 16 };

/* Detects the compression of a file from its first bytes. The file's name is ignored, because names
 * are often wrong. A file with GZIP's magic number counts as GZIP even if the rest of its header is
 * damaged: the inflater then reports the damage, while a reader of plain files would misinterpret
 * the bytes. */
enum compression compression_detect(const uint8_t *bytes, size_t size);

/* Returns whether the bytes start a valid GZIP member or a ZLIB stream, judging by the first
 * COMPRESSION_DETECT_SIZE bytes at most. */
bool compression_begins(enum compression kind, const uint8_t *bytes, uint64_t size);

#endif
