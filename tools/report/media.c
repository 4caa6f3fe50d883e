#include "report/media.h"

#include <stdio.h>
#include <string.h>

#include <recmap/image.h>

#include "terminal/decoders.h"

static bool begins(const uint8_t *data, size_t size, const char *prefix, size_t prefix_size) {
    return size >= prefix_size && !memcmp(data, prefix, prefix_size);
}

/* The size of an MP3 frame (MPEG 1, layer III) by its header, or 0. */
static size_t mp3_frame_size(const uint8_t *data) {
    static const unsigned short bitrates[] = {0,   32,  40,  48,  56,  64,  80, 96,
                                              112, 128, 160, 192, 224, 256, 320};
    static const unsigned short rates[] = {44100, 48000, 32000};
    unsigned bitrate = data[2] >> 4, rate = data[2] >> 2 & 3;
    if (data[0] != 0xff || (data[1] & 0xfe) != 0xfa || bitrate == 0 || bitrate == 15 || rate == 3)
        return 0;
    return 144000 * (size_t)bitrates[bitrate] / rates[rate] + (data[2] >> 1 & 1);
}

/* Without a tag, two frames must follow each other: one header of four bytes proves little. */
static bool is_mp3(const uint8_t *data, size_t size) {
    if (begins(data, size, "ID3", 3)) return size > 10;
    size_t frame = size >= 4 ? mp3_frame_size(data) : 0;
    return frame && frame + 4 <= size && mp3_frame_size(data + frame);
}

static bool is_wav(const uint8_t *data, size_t size) {
    return size >= 12 && begins(data, size, "RIFF", 4) && !memcmp(data + 8, "WAVE", 4);
}

static struct media sound(const char *name, const char *type) {
    return (struct media){.kind = MEDIA_SOUND, .name = name, .type = type};
}

static struct media detect_sound(const uint8_t *data, size_t size) {
    if (is_wav(data, size)) return sound("WAV", "audio/wav");
    if (begins(data, size, "fLaC", 4)) return sound("FLAC", "audio/flac");
    if (begins(data, size, "OggS", 4)) return sound("Ogg", "audio/ogg");
    if (is_mp3(data, size)) return sound("MP3", "audio/mpeg");
    return (struct media){.kind = MEDIA_NONE};
}

static struct media picture(const recmap_image_info *info) {
    static const char *const names[][2] = {[RECMAP_IMAGE_CUSTOM] = {"picture", "image/png"},
                                           [RECMAP_IMAGE_JPEG] = {"JPEG", "image/jpeg"},
                                           [RECMAP_IMAGE_PNG] = {"PNG", "image/png"},
                                           [RECMAP_IMAGE_WEBP] = {"WebP", "image/webp"}};
    struct media media = {
        .kind = MEDIA_PICTURE,
        .name = names[info->format][0],
        .type = names[info->format][1],
        .width = info->width,
        .height = info->height,
        .is_custom = info->format == RECMAP_IMAGE_CUSTOM,
        .is_wide_gray = info->mode[0] == 'L' && info->depth == 16,
    };
    if ((uint64_t)info->width * info->height > RECMAP_IMAGE_MAX_PIXELS)
        snprintf(media.problem, sizeof media.problem, "more than %d pixels",
                 RECMAP_IMAGE_MAX_PIXELS);
    return media;
}

/* Bytes of other formats, which the library does not decode, are not media. */
struct media media_detect(const uint8_t *data, size_t size) {
    recmap_image_info info;
    recmap_error error = RECMAP_ERROR_INIT;
    struct media damaged = {.kind = MEDIA_PICTURE, .name = "picture"};
    if (!size) return (struct media){.kind = MEDIA_NONE};
    size_t count;
    const recmap_image_decoder *decoders = decoders_loaded(&count);
    recmap_status status = recmap_image_describe_with(&info, data, size, decoders, count, &error);
    if (status == RECMAP_OK) return picture(&info);
    if (status == RECMAP_UNSUPPORTED) return detect_sound(data, size);
    snprintf(damaged.problem, sizeof damaged.problem, "%.150s", error.message);
    return damaged;
}
