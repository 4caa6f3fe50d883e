/* WebP: a RIFF file of chunks. `VP8 ` and `VP8L` are pictures, and `VP8X` says that other chunks,
 * such as EXIF and frames of an animation, follow. Source: RFC 9649. */
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "parse/image/header.h"

enum { RIFF_HEADER_SIZE = 12, CHUNK_HEADER_SIZE = 8 };
enum { VP8X_ANIMATION = 0x02, VP8X_ALPHA = 0x10 };

static uint32_t load24(const uint8_t *data) {
    return load16(data) | (uint32_t)data[2] << 16;
}

/* VP8: 3 bytes of frame tag, 3 of start code, then the sides in 14 bits each. */
static bool read_lossy(struct image_header *header, const uint8_t *data, size_t size) {
    if (size < 10) return false;
    header->width = load16(data + 6) & 0x3fff;
    header->height = load16(data + 8) & 0x3fff;
    header->mode = "RGB", header->channels = 3;
    return true;
}

/* VP8L: a signature byte, then the sides less one in 14 bits each, and a bit for alpha. */
static bool read_lossless(struct image_header *header, const uint8_t *data, size_t size) {
    if (size < 5) return false;
    uint32_t bits = load32(data + 1);
    bool has_alpha = bits >> 28 & 1;
    header->width = (bits & 0x3fff) + 1;
    header->height = (bits >> 14 & 0x3fff) + 1;
    header->mode = has_alpha ? "RGBA" : "RGB", header->channels = has_alpha ? 4 : 3;
    return true;
}

static bool read_extended(struct image_header *header, const uint8_t *data, size_t size) {
    if (size < 10) return false;
    bool has_alpha = data[0] & VP8X_ALPHA;
    header->is_animated = data[0] & VP8X_ANIMATION;
    header->width = load24(data + 4) + 1;
    header->height = load24(data + 7) + 1;
    header->mode = has_alpha ? "RGBA" : "RGB", header->channels = has_alpha ? 4 : 3;
    return true;
}

static void find_orientation(struct image_header *header, const uint8_t *data, size_t size) {
    uint64_t at = RIFF_HEADER_SIZE;
    while (bytes_fit(at, CHUNK_HEADER_SIZE, size)) {
        uint64_t chunk_size = load32(data + at + 4);
        const uint8_t *type = data + at;
        at += CHUNK_HEADER_SIZE;
        if (!bytes_fit(at, chunk_size, size)) return;
        if (!memcmp(type, "EXIF", 4)) {
            /* Some writers copy JPEG's prefix too. */
            size_t prefix = chunk_size > 6 && !memcmp(data + at, "Exif\0\0", 6) ? 6 : 0;
            header->orientation = exif_orientation(data + at + prefix, (size_t)chunk_size - prefix);
        }
        at += chunk_size + (chunk_size & 1);
    }
}

recmap_status webp_header_read(struct image_header *header, const uint8_t *data, size_t size,
                               recmap_error *error) {
    const uint8_t *chunk = data + RIFF_HEADER_SIZE, *body = chunk + CHUNK_HEADER_SIZE;
    if (size < RIFF_HEADER_SIZE + CHUNK_HEADER_SIZE)
        return fail(error, RECMAP_FEATURE, "the WebP ends at its byte %zu, inside its header",
                    size);
    size_t left = size - RIFF_HEADER_SIZE - CHUNK_HEADER_SIZE;
    bool is_read = false;
    header->depth = 8;
    if (!memcmp(chunk, "VP8 ", 4)) is_read = read_lossy(header, body, left);
    if (!memcmp(chunk, "VP8L", 4)) is_read = read_lossless(header, body, left);
    if (!memcmp(chunk, "VP8X", 4)) is_read = read_extended(header, body, left);
    if (!is_read || !header->width || !header->height)
        return fail(error, RECMAP_FEATURE, "the WebP's header is damaged at its byte 12");
    if (!memcmp(chunk, "VP8X", 4)) find_orientation(header, data, size);
    return RECMAP_OK;
}
