/* PNG: chunks, each a size, a type, the bytes and a CRC. The first chunk, IHDR, has the picture's
 * size; tRNS gives it transparency, eXIf the orientation. Source: W3C Portable Network Graphics
 * (Third Edition), sections 5 and 11. */
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "parse/image/header.h"

enum { SIGNATURE_SIZE = 8, CHUNK_HEADER_SIZE = 8, CRC_SIZE = 4, IHDR_SIZE = 13 };

static uint32_t load32_big(const uint8_t *data) {
    return __builtin_bswap32(load32(data));
}

static bool read_ihdr(struct image_header *header, const uint8_t *data) {
    header->width = load32_big(data);
    header->height = load32_big(data + 4);
    header->depth = data[8];
    switch (data[9]) {
    case 0: header->mode = "L", header->channels = 1; return true;
    case 2: header->mode = "RGB", header->channels = 3; return true;
    case 3: header->mode = "P", header->channels = 1; return true;
    case 4: header->mode = "LA", header->channels = 2; return true;
    case 6: header->mode = "RGBA", header->channels = 4; return true;
    default: return false;
    }
}

/* EXIF may follow the pixels, so all chunks are passed; each costs a few reads. */
static void find_orientation(struct image_header *header, const uint8_t *data, size_t size) {
    uint64_t at = SIGNATURE_SIZE;
    while (bytes_fit(at, CHUNK_HEADER_SIZE, size)) {
        uint64_t chunk_size = load32_big(data + at);
        const uint8_t *type = data + at + 4;
        at += CHUNK_HEADER_SIZE;
        if (!bytes_fit(at, chunk_size, size)) return;
        if (!memcmp(type, "eXIf", 4))
            header->orientation = exif_orientation(data + at, (size_t)chunk_size);
        at += chunk_size + CRC_SIZE;
    }
}

recmap_status png_header_read(struct image_header *header, const uint8_t *data, size_t size,
                              recmap_error *error) {
    const uint8_t *chunk = data + SIGNATURE_SIZE;
    if (size < SIGNATURE_SIZE + CHUNK_HEADER_SIZE + IHDR_SIZE)
        return fail(error, RECMAP_FEATURE, "the PNG ends at its byte %zu, inside its header", size);
    if (load32_big(chunk) != IHDR_SIZE || memcmp(chunk + 4, "IHDR", 4) != 0 ||
        !read_ihdr(header, chunk + CHUNK_HEADER_SIZE))
        return fail(error, RECMAP_FEATURE, "the PNG's header is damaged at its byte 8");
    if (!header->height || !header->width)
        return fail(error, RECMAP_FEATURE, "the PNG has no pixels: %u x %u", header->height,
                    header->width);
    find_orientation(header, data, size);
    return RECMAP_OK;
}
