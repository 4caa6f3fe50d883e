/* JPEG: segments, each a marker and, for most, a size. The frame header (SOF) has the picture's
 * size; APP1 may hold EXIF; each scan (SOS) is followed by its coded bytes. Source: ITU-T T.81,
 * annex B. */
#include <string.h>

#include "base/core/error.h"
#include "parse/image/header.h"

enum jpeg_marker {
    MARKER_SOF0 = 0xc0,
    MARKER_SOF2 = 0xc2,
    MARKER_DHT = 0xc4,
    MARKER_JPG = 0xc8,
    MARKER_DAC = 0xcc,
    MARKER_SOF15 = 0xcf,
    MARKER_RST0 = 0xd0,
    MARKER_RST7 = 0xd7,
    MARKER_SOI = 0xd8,
    MARKER_EOI = 0xd9,
    MARKER_SOS = 0xda,
    MARKER_APP1 = 0xe1,
    MARKER_APP14 = 0xee,
    MARKER_TEM = 0x01,
};

static unsigned load16_big(const uint8_t *data) {
    return (unsigned)data[0] << 8 | data[1];
}

static bool is_frame(unsigned marker) {
    return marker >= MARKER_SOF0 && marker <= MARKER_SOF15 && marker != MARKER_DHT &&
           marker != MARKER_JPG && marker != MARKER_DAC;
}

static bool has_size(unsigned marker) {
    return marker != MARKER_SOI && marker != MARKER_EOI && marker != MARKER_TEM &&
           !(marker >= MARKER_RST0 && marker <= MARKER_RST7);
}

static bool read_frame(struct image_header *header, const uint8_t *data, size_t size) {
    enum { COMPONENT_SIZE = 3, FIXED_SIZE = 6 };
    static const char *const modes[] = {"L", "L", "LA", "RGB", "CMYK"};
    if (size < FIXED_SIZE) return false;
    header->depth = data[0];
    header->height = load16_big(data + 1);
    header->width = load16_big(data + 3);
    header->channels = data[5];
    if (header->channels < 1 || header->channels > 4) return false;
    if (size < FIXED_SIZE + COMPONENT_SIZE * (size_t)header->channels) return false;
    header->mode = modes[header->channels];
    header->is_plain_sampled = true;
    for (unsigned i = 0; i < header->channels; i++) {
        unsigned factors = data[FIXED_SIZE + COMPONENT_SIZE * i + 1];
        unsigned across = factors >> 4, down = factors & 15;
        if (across < 1 || across > 2 || down < 1 || down > 2) header->is_plain_sampled = false;
    }
    return true;
}

struct jpeg_walk {
    bool has_frame;
    bool is_progressive;
    bool has_exif;
};

/* The first segment of EXIF counts: others continue it, or are copies of a part of it. */
static void read_application(struct image_header *header, struct jpeg_walk *walk, unsigned marker,
                             const uint8_t *data, size_t size) {
    if (marker == MARKER_APP1 && !walk->has_exif && size > 6 && !memcmp(data, "Exif\0\0", 6)) {
        header->orientation = exif_orientation(data + 6, size - 6);
        walk->has_exif = true;
    }
    if (marker == MARKER_APP14 && size >= 12 && !memcmp(data, "Adobe", 5))
        header->has_adobe_marker = true;
}

/* Returns the offset of the next marker's 0xff at or after `at`. Coded bytes contain 0xff only
 * before a zero; other bytes between segments are skipped, as libjpeg does. */
static size_t next_marker(const uint8_t *data, size_t at, size_t size) {
    while (at + 1 < size) {
        const uint8_t *marker = memchr(data + at, 0xff, size - 1 - at);
        if (!marker) return size;
        at = (size_t)(marker - data);
        if (marker[1] != 0 && marker[1] != 0xff) return at;
        at++;
    }
    return size;
}

/* Takes one segment. Returns false if it is damaged. */
static bool take_segment(struct image_header *header, struct jpeg_walk *walk, unsigned marker,
                         const uint8_t *data, size_t size) {
    if (is_frame(marker)) {
        if (walk->has_frame || !read_frame(header, data, size)) return false;
        walk->has_frame = true;
        header->frame_type = (uint8_t)(marker - MARKER_SOF0);
        walk->is_progressive = (marker & 3) == (MARKER_SOF2 & 3);
        return true;
    }
    if (marker == MARKER_SOS) {
        if (size < 1) return false;
        if (!header->scan_count++)
            header->is_multi_scan = walk->is_progressive || data[0] < header->channels;
        return true;
    }
    read_application(header, walk, marker, data, size);
    return true;
}

static recmap_status fail_header(recmap_error *error, size_t at) {
    return fail(error, RECMAP_FEATURE, "the JPEG's header is damaged at its byte %zu", at);
}

recmap_status jpeg_header_read(struct image_header *header, const uint8_t *data, size_t size,
                               recmap_error *error) {
    struct jpeg_walk walk = {0};
    for (size_t at = 0; (at = next_marker(data, at, size)) < size;) {
        unsigned marker = data[at + 1];
        size_t body = at + 2, body_size = 0;
        if (marker == MARKER_EOI) break;
        if (has_size(marker)) {
            if (size - body < 2) break;
            unsigned length = load16_big(data + body);
            if (length < 2) return fail_header(error, at);
            if (length > size - body) break;
            body += 2;
            body_size = length - 2;
        }
        if (!take_segment(header, &walk, marker, data + body, body_size))
            return fail_header(error, at);
        if (marker == MARKER_SOS && !header->is_multi_scan) break;
        at = body + body_size;
    }
    if (!walk.has_frame)
        return fail(error, RECMAP_FEATURE, "the JPEG ends at its byte %zu, inside its header",
                    size);
    if (!header->height || !header->width)
        return fail(error, RECMAP_FEATURE, "the JPEG has no pixels: %u x %u", header->height,
                    header->width);
    return RECMAP_OK;
}
