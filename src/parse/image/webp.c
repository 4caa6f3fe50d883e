/* libwebp decodes whole pictures, at their full size. Of an animation, the first frame counts, at
 * its place on a canvas that is otherwise transparent black. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "parse/image/decoder.h"

/* A frame of an animation, or the whole picture. */
struct frame {
    const uint8_t *data;
    size_t size;
    uint32_t x, y;
};

enum { RIFF_HEADER_SIZE = 12, CHUNK_HEADER_SIZE = 8, FRAME_HEADER_SIZE = 16 };

static uint32_t load24(const uint8_t *data) {
    return load16(data) | (uint32_t)data[2] << 16;
}

/* Finds the first ANMF chunk: its place on the canvas in units of two pixels, its size, duration
 * and flags, then the chunks of a picture. Source: RFC 9649, section 2.7.1.1. */
static bool find_first_frame(struct frame *frame, const uint8_t *data, size_t size) {
    uint64_t at = RIFF_HEADER_SIZE;
    while (bytes_fit(at, CHUNK_HEADER_SIZE, size)) {
        uint64_t chunk_size = load32(data + at + 4);
        bool is_frame = !memcmp(data + at, "ANMF", 4);
        at += CHUNK_HEADER_SIZE;
        if (!bytes_fit(at, chunk_size, size)) return false;
        if (is_frame) {
            if (chunk_size < FRAME_HEADER_SIZE) return false;
            frame->x = 2 * load24(data + at);
            frame->y = 2 * load24(data + at + 3);
            frame->data = data + at + FRAME_HEADER_SIZE;
            frame->size = (size_t)chunk_size - FRAME_HEADER_SIZE;
            return true;
        }
        at += chunk_size + (chunk_size & 1);
    }
    return false;
}

/* libwebp has no code of its own for some allocations that fail, but malloc sets errno. */
static VP8StatusCode decode_bytes(const struct frame *frame, WebPDecoderConfig *config) {
    int saved = errno;
    errno = 0;
    VP8StatusCode code = WebPDecode(frame->data, frame->size, config);
    if (code != VP8_STATUS_OK && errno == ENOMEM) code = VP8_STATUS_OUT_OF_MEMORY;
    errno = saved;
    return code;
}

static recmap_status fail_webp(VP8StatusCode code, recmap_error *error) {
    switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY: return fail_memory(error);
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: return fail(error, RECMAP_FEATURE, "the WebP ends too early");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return fail(error, RECMAP_FEATURE, "the WebP uses a feature that libwebp does not have");
    default: return fail(error, RECMAP_FEATURE, "the WebP is damaged");
    }
}

static recmap_status decode_frame(uint8_t *canvas, unsigned channels, const struct frame *frame,
                                  const struct image_header *header, recmap_error *error) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return fail_memory(error);
    VP8StatusCode code = WebPGetFeatures(frame->data, frame->size, &config.input);
    if (code != VP8_STATUS_OK) return fail_webp(code, error);
    if (!bytes_fit(frame->x, (uint64_t)config.input.width, header->width) ||
        !bytes_fit(frame->y, (uint64_t)config.input.height, header->height))
        return fail(error, RECMAP_FEATURE,
                    "the WebP is damaged: its frame of %d x %d pixels does "
                    "not fit its canvas of %u x %u",
                    config.input.height, config.input.width, header->height, header->width);
    size_t stride = (size_t)header->width * channels;
    uint8_t *begin = canvas + frame->y * stride + (size_t)frame->x * channels;
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = begin;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = stride * header->height - (size_t)(begin - canvas);
    code = decode_bytes(frame, &config);
    return code == VP8_STATUS_OK ? RECMAP_OK : fail_webp(code, error);
}

recmap_status webp_decode(struct image_rows *rows, const struct encoded *encoded,
                          const struct region *region, recmap_error *error) {
    const struct image_header *header = encoded->header;
    struct frame frame = {.data = encoded->data, .size = encoded->size};
    const unsigned channels = rows->mode == RECMAP_IMAGE_RGBA ? 4 : 3;
    const size_t stride = (size_t)header->width * channels;
    if (header->is_animated && !find_first_frame(&frame, encoded->data, encoded->size))
        return fail(error, RECMAP_FEATURE, "the WebP ends before its first frame does");
    uint8_t *canvas = calloc(header->height, stride);
    if (!canvas) return fail_memory(error);
    recmap_status status = decode_frame(canvas, channels, &frame, header, error);
    if (status == RECMAP_OK) {
        image_rows_begin(rows, channels == 4 ? SAMPLES_RGBA : SAMPLES_RGB, false, 0);
        for (uint32_t y = region->y; image_rows_left(rows); y++)
            image_rows_put(rows, y, canvas + y * stride);
    }
    free(canvas);
    return status;
}
