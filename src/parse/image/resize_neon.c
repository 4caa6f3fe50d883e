#include "parse/image/resize.h"

#ifdef RESIZE_NEON
#include <arm_neon.h>
#include <string.h>

/* Sixteen samples at a time. Reads up to 15 samples past the end, and writes as many. */
static void filter_down(int16_t *line, const uint8_t *const *rows, const int16_t *weights,
                        uint32_t taps, size_t size) {
    enum { SHIFT = FILTER_BITS - RESIZE_FRACTION_BITS };
    const int32x4_t half = vdupq_n_s32(1 << (SHIFT - 1));
    for (size_t at = 0; at < size; at += 16) {
        int32x4_t sums[4] = {half, half, half, half};
        for (uint32_t t = 0; t < taps; t++) {
            uint8x16_t samples = vld1q_u8(rows[t] + at);
            int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(samples)));
            int16x8_t high = vreinterpretq_s16_u16(vmovl_high_u8(samples));
            sums[0] = vmlal_n_s16(sums[0], vget_low_s16(low), weights[t]);
            sums[1] = vmlal_high_n_s16(sums[1], low, weights[t]);
            sums[2] = vmlal_n_s16(sums[2], vget_low_s16(high), weights[t]);
            sums[3] = vmlal_high_n_s16(sums[3], high, weights[t]);
        }
        vst1q_s16(line + at, vshrn_high_n_s32(vshrn_n_s32(sums[0], SHIFT), sums[1], SHIFT));
        vst1q_s16(line + at + 8, vshrn_high_n_s32(vshrn_n_s32(sums[2], SHIFT), sums[3], SHIFT));
    }
}

/* One pixel at a time: a lane for each channel, and with three channels an unused one, which makes
 * a pixel read and write one sample past its end. Even and odd taps have sums of their own, so that
 * multiplications need not wait for each other. */
static inline __attribute__((always_inline)) void
filter_across(uint8_t *row, const int16_t *line, const struct filter *filter, unsigned channels) {
    enum { SHIFT = FILTER_BITS + RESIZE_FRACTION_BITS };
    for (uint32_t x = 0; x < filter->count; x++) {
        const int16_t *source = line + (size_t)filter->first[x] * channels;
        const int16_t *weights = filter->weights + (size_t)x * filter->taps_stride;
        int32x4_t even = vdupq_n_s32(1 << (SHIFT - 1)), odd = vdupq_n_s32(0);
        uint32_t t = 0;
        for (; t + 1 < filter->taps[x]; t += 2, source += 2 * channels) {
            even = vmlal_n_s16(even, vld1_s16(source), weights[t]);
            odd = vmlal_n_s16(odd, vld1_s16(source + channels), weights[t + 1]);
        }
        if (t < filter->taps[x]) even = vmlal_n_s16(even, vld1_s16(source), weights[t]);
        uint16x4_t levels = vqmovun_s32(vshrq_n_s32(vaddq_s32(even, odd), SHIFT));
        uint8x8_t samples = vqmovn_u16(vcombine_u16(levels, levels));
        uint32_t pixel = vget_lane_u32(vreinterpret_u32_u8(samples), 0);
        memcpy(row + (size_t)x * channels, &pixel, 4);
    }
}

static void across(uint8_t *row, const int16_t *line, const struct filter *filter,
                   unsigned channels) {
    if (channels == 3) filter_across(row, line, filter, 3);
    else if (channels == 4) filter_across(row, line, filter, 4);
    else resize_portable.across(row, line, filter, channels);
}

const struct resize_path resize_neon = {filter_down, across};
#endif
