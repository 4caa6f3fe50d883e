#include "format/deflate/compression.h"

#include "base/core/bytes.h"
#include "format/framing/tfrecord.h"

static const char *const names[] = {"none", "gzip", "zlib"};

const char *compression_name(enum compression kind) {
    return names[kind];
}

/* RFC 1952: the magic number and the method deflate. */
static bool has_gzip_magic(const uint8_t *bytes, uint64_t size) {
    return size >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8;
}

/* Rejects reserved flags; the rest of a GZIP header has no redundancy to check. */
static bool begins_gzip(const uint8_t *bytes, uint64_t size) {
    return size >= 4 && has_gzip_magic(bytes, size) && bytes[3] < 0x20;
}

/* RFC 1950: deflate, a window of at most 32 KiB, a valid header check, no dictionary. */
static bool begins_zlib(const uint8_t *bytes, uint64_t size) {
    return size >= 2 && (bytes[0] & 0x0f) == 8 && bytes[0] >> 4 <= 7 && !(bytes[1] & 0x20) &&
           ((unsigned)bytes[0] << 8 | bytes[1]) % 31 == 0;
}

/* The upper half of a record's length is zero, even in a header that is damaged elsewhere. In the
 * first bytes of a ZLIB stream it is not. */
static bool begins_length(const uint8_t *bytes, uint64_t size) {
    return size >= 8 && load32(bytes + 4) == 0;
}

/* The order matters. A valid TFRecord header is certain, GZIP's magic number nearly so. A ZLIB
 * header is only 2 bytes that also occur by chance, so it is considered last, after TFRecord files
 * with a damaged first header. */
enum compression compression_detect(const uint8_t *bytes, size_t size) {
    if (tfrecord_framing.begins_frame(&tfrecord_framing, bytes, size)) return COMPRESSION_NONE;
    if (has_gzip_magic(bytes, size)) return COMPRESSION_GZIP;
    if (begins_length(bytes, size)) return COMPRESSION_NONE;
    return begins_zlib(bytes, size) ? COMPRESSION_ZLIB : COMPRESSION_NONE;
}

bool compression_begins(enum compression kind, const uint8_t *bytes, uint64_t size) {
    return kind == COMPRESSION_GZIP ? begins_gzip(bytes, size) : begins_zlib(bytes, size);
}
