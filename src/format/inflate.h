/* GZIP and ZLIB streams: telling them from other bytes, and inflating them whole. Pure.
 * Sources: RFC 1950, 1951, 1952. */
#ifndef RECMAP_FORMAT_INFLATE_H
#define RECMAP_FORMAT_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZLIB } compression;

/* "none", "gzip", "zlib": as it stands in the index. */
const char *compression_name(compression kind);

/* Bytes at a file's beginning that compression_detect looks at. */
enum { COMPRESSION_DETECT_SIZE = 16 };

/* What a file is whose first bytes these are. Its name means nothing: files are misnamed. */
compression compression_detect(const uint8_t *bytes, size_t size);

typedef enum inflate_verdict {
    INFLATE_OK,
    INFLATE_BAD,       /* `reason` says why, at `bad_at` of the compressed bytes */
    INFLATE_TOO_LARGE, /* more than the limit comes out */
    INFLATE_NO_MEMORY,
} inflate_verdict;

/* What came out. */
typedef struct inflated {
    uint8_t *data; /* malloc'ed; the caller frees it; set only with INFLATE_OK */
    size_t size;
    uint64_t bad_at;
    const char *reason;
} inflated;

/* Inflates a whole stream, or several one behind the other (members of a GZIP file), checking their
 * checksums. Memory grows with what really comes out, never with what a header claims. */
inflate_verdict inflate_all(inflated *out, compression kind, const uint8_t *bytes, uint64_t size,
                            uint64_t limit);

#endif
