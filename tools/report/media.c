#include "report/media.h"

#include <stdbool.h>
#include <string.h>

enum { SIDE_MAX = 16384, PIXELS_MAX = 1 << 24 };

static unsigned big16(const uint8_t *data) {
    return (unsigned)data[0] << 8 | data[1];
}

static unsigned little16(const uint8_t *data) {
    return (unsigned)data[1] << 8 | data[0];
}

static unsigned big32(const uint8_t *data) {
    return big16(data) << 16 | big16(data + 2);
}

static unsigned little24(const uint8_t *data) {
    return (unsigned)data[2] << 16 | little16(data);
}

static bool begins(const uint8_t *data, size_t size, const char *prefix, size_t prefix_size) {
    return size >= prefix_size && !memcmp(data, prefix, prefix_size);
}

/* Reads the size of a JPEG from its first start-of-frame segment. */
static void measure_jpeg(struct media *media, const uint8_t *data, size_t size) {
    for (size_t i = 2; i + 9 < size && data[i] == 0xff;) {
        unsigned marker = data[i + 1], length = big16(data + i + 2);
        bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
                        marker != 0xcc;
        if (is_frame) {
            media->height = big16(data + i + 5);
            media->width = big16(data + i + 7);
            return;
        }
        if (marker == 0xff) {
            i++;
            continue;
        }
        if (length < 2 || marker == 0xda) return;
        i += 2 + (size_t)length;
    }
}

static void measure_png(struct media *media, const uint8_t *data, size_t size) {
    if (size < 33 || memcmp(data + 12, "IHDR", 4) != 0) return;
    media->width = big32(data + 16);
    media->height = big32(data + 20);
}

static void measure_gif(struct media *media, const uint8_t *data, size_t size) {
    if (size < 13) return;
    media->width = little16(data + 6);
    media->height = little16(data + 8);
}

static void measure_webp(struct media *media, const uint8_t *data, size_t size) {
    if (size < 30) return;
    if (!memcmp(data + 12, "VP8X", 4)) {
        media->width = little24(data + 24) + 1;
        media->height = little24(data + 27) + 1;
    } else if (!memcmp(data + 12, "VP8L", 4)) {
        unsigned low = little16(data + 21), high = little16(data + 23);
        media->width = (low & 0x3fff) + 1;
        media->height = (low >> 14 | (high & 0xfff) << 2) + 1;
    } else if (!memcmp(data + 12, "VP8 ", 4)) {
        media->width = little16(data + 26) & 0x3fff;
        media->height = little16(data + 28) & 0x3fff;
    }
}

static struct media detect_picture(const uint8_t *data, size_t size) {
    static const struct {
        const char *prefix;
        size_t prefix_size;
        const char *name;
        const char *type;
        void (*measure)(struct media *media, const uint8_t *data, size_t size);
    } formats[] = {{"\xff\xd8\xff", 3, "JPEG", "image/jpeg", measure_jpeg},
                   {"\x89PNG\r\n\x1a\n", 8, "PNG", "image/png", measure_png},
                   {"GIF87a", 6, "GIF", "image/gif", measure_gif},
                   {"GIF89a", 6, "GIF", "image/gif", measure_gif}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!begins(data, size, formats[i].prefix, formats[i].prefix_size)) continue;
        struct media media = {MEDIA_PICTURE, formats[i].name, formats[i].type, 0, 0};
        formats[i].measure(&media, data, size);
        return media;
    }
    return (struct media){.kind = MEDIA_NONE};
}

static struct media detect_riff(const uint8_t *data, size_t size) {
    if (size >= 12 && !memcmp(data + 8, "WAVE", 4))
        return (struct media){MEDIA_SOUND, "WAV", "audio/wav", 0, 0};
    struct media media = {MEDIA_PICTURE, "WebP", "image/webp", 0, 0};
    if (size < 12 || memcmp(data + 8, "WEBP", 4) != 0) return (struct media){.kind = MEDIA_NONE};
    measure_webp(&media, data, size);
    return media;
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

struct media media_detect(const uint8_t *data, size_t size) {
    struct media media = detect_picture(data, size);
    if (media.kind != MEDIA_NONE) return media;
    if (begins(data, size, "RIFF", 4)) return detect_riff(data, size);
    if (begins(data, size, "fLaC", 4))
        return (struct media){MEDIA_SOUND, "FLAC", "audio/flac", 0, 0};
    if (begins(data, size, "OggS", 4)) return (struct media){MEDIA_SOUND, "Ogg", "audio/ogg", 0, 0};
    if (is_mp3(data, size)) return (struct media){MEDIA_SOUND, "MP3", "audio/mpeg", 0, 0};
    return media;
}

int media_is_shown(const struct media *media) {
    return media->width && media->height && media->width <= SIDE_MAX && media->height <= SIDE_MAX &&
           (uint64_t)media->width * media->height <= PIXELS_MAX;
}
