/* What GZIP and ZLIB files look like from outside. Pure. Sources: RFC 1950, 1952. */
#ifndef RECMAP_FORMAT_COMPRESSION_H
#define RECMAP_FORMAT_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZLIB } compression;

/* "none", "gzip", "zlib": as it stands in the index. */
const char *compression_name(compression kind);

/* Bytes at a file's beginning that compression_detect looks at. */
enum { COMPRESSION_DETECT_SIZE = 16 };

/* What a file is whose first bytes these are. Its name means nothing: files are misnamed. One with
 * the magic of GZIP is GZIP even where its header is damaged: the inflater says so, while as a
 * plain file it would be read for what it is not. */
compression compression_detect(const uint8_t *bytes, size_t size);

/* Whether the bytes begin like a good member of a GZIP file, or like a ZLIB stream: by its first
 * bytes, of which COMPRESSION_DETECT_SIZE are enough. */
bool compression_begins(compression kind, const uint8_t *bytes, uint64_t size);

#endif
