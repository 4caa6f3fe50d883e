#include "parse/image/convert.h"

#include <string.h>

struct pixel {
    uint32_t r, g, b, a;
};

unsigned layout_channels(enum sample_layout layout) {
    switch (layout) {
    case SAMPLES_GRAY: return 1;
    case SAMPLES_GRAY_ALPHA: return 2;
    case SAMPLES_RGB: return 3;
    default: return 4;
    }
}

/* Sample `i` of a row. */
static inline uint32_t load_sample(const void *from, size_t i, bool is_wide) {
    if (!is_wide) return ((const uint8_t *)from)[i];
    uint16_t sample;
    memcpy(&sample, (const uint8_t *)from + 2 * i, sizeof sample);
    return sample;
}

static inline void store_sample(void *out, size_t i, bool is_wide, uint32_t value) {
    uint16_t sample = (uint16_t)value;
    if (is_wide) memcpy((uint8_t *)out + 2 * i, &sample, sizeof sample);
    else ((uint8_t *)out)[i] = (uint8_t)value;
}

/* 8 bits to 16 and back: 255 and 65535 are the same white. */
static inline uint32_t rescale(uint32_t value, bool from_is_wide, bool out_is_wide) {
    if (from_is_wide == out_is_wide) return value;
    return out_is_wide ? value * 257 : (value + 128) / 257;
}

/* Ink k darkens ink c: what remains of white is the product. */
static inline uint32_t remains_of(uint32_t c, uint32_t k, bool is_inverted) {
    return is_inverted ? c * k / 255 : (255 - c) * (255 - k) / 255;
}

static inline struct pixel load_pixel(const void *from, size_t i, enum sample_layout layout,
                                      bool is_wide) {
    const uint32_t opaque = is_wide ? 65535 : 255;
    const size_t at = i * layout_channels(layout);
    uint32_t s[4] = {0};
    for (unsigned c = 0; c < layout_channels(layout); c++)
        s[c] = load_sample(from, at + c, is_wide);
    bool is_inverted = layout == SAMPLES_CMYK_INVERTED;
    switch (layout) {
    case SAMPLES_GRAY: return (struct pixel){s[0], s[0], s[0], opaque};
    case SAMPLES_GRAY_ALPHA: return (struct pixel){s[0], s[0], s[0], s[1]};
    case SAMPLES_RGB: return (struct pixel){s[0], s[1], s[2], opaque};
    case SAMPLES_RGBA: return (struct pixel){s[0], s[1], s[2], s[3]};
    default:
        return (struct pixel){remains_of(s[0], s[3], is_inverted),
                              remains_of(s[1], s[3], is_inverted),
                              remains_of(s[2], s[3], is_inverted), opaque};
    }
}

/* Luma of ITU-R BT.601, with the weights that Pillow uses. */
static inline uint32_t luma_of(struct pixel p) {
    return (uint32_t)((UINT64_C(19595) * p.r + UINT64_C(38470) * p.g + UINT64_C(7471) * p.b +
                       (1 << 15)) >>
                      16);
}

bool convert_is_copy(recmap_image_mode mode, enum sample_layout layout) {
    return (mode == RECMAP_IMAGE_RGB && layout == SAMPLES_RGB) ||
           (mode == RECMAP_IMAGE_GRAY && layout == SAMPLES_GRAY) ||
           (mode == RECMAP_IMAGE_RGBA && layout == SAMPLES_RGBA);
}

void convert_samples(void *out, recmap_image_mode mode, bool out_is_wide, const void *from,
                     enum sample_layout layout, bool from_is_wide, size_t count) {
    const unsigned channels = recmap_image_channels(mode);
    const bool has_luma = layout == SAMPLES_GRAY || layout == SAMPLES_GRAY_ALPHA;
    if (out_is_wide == from_is_wide && convert_is_copy(mode, layout)) {
        memcpy(out, from, (count * channels) << out_is_wide);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct pixel p = load_pixel(from, i, layout, from_is_wide);
        uint32_t values[4] = {p.r, p.g, p.b, p.a};
        if (mode == RECMAP_IMAGE_GRAY && !has_luma) values[0] = luma_of(p);
        for (unsigned c = 0; c < channels; c++)
            store_sample(out, i * channels + c, out_is_wide,
                         rescale(values[c], from_is_wide, out_is_wide));
    }
}
