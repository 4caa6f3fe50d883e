#include "parse/image/resize.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"

const struct resize_path *resize_best_path(void) {
#ifdef RESIZE_AVX2
    if (__builtin_cpu_supports("avx2")) return &resize_avx2;
#endif
#ifdef RESIZE_NEON
    return &resize_neon;
#else
    return &resize_portable;
#endif
}

void resize_deinit(struct resize *resize) {
    filter_deinit(&resize->x);
    filter_deinit(&resize->y);
    free(resize->memory);
    *resize = (struct resize){0};
}

static size_t with_slack(size_t bytes) {
    return (bytes + RESIZE_SLACK + 63) / 64 * 64;
}

/* Divides one piece of memory into the ring of source rows, the line, the row of the result and the
 * pointers to the rows of a filter. All of it is initialised, because paths read past the ends of
 * rows and multiply what they find by 0. */
static bool reserve(struct resize *resize) {
    size_t sample = resize->is_wide ? 2 : 1;
    /* A path reads as many samples for each pixel as for the one with the most weights. */
    size_t line = with_slack((resize->row_size + (size_t)resize->x.taps_stride * resize->channels) *
                             2 * sample);
    size_t result = with_slack((size_t)resize->x.count * resize->channels * sample);
    size_t taps = with_slack(resize->ring_rows * sizeof *resize->taps);
    resize->row_bytes = with_slack(RESIZE_LEAD + resize->row_size * sample);
    size_t ring = resize->row_bytes * resize->ring_rows, size = ring + line + result + taps;
    if (size > resize->memory_size) {
        free(resize->memory);
        resize->memory = aligned_alloc(64, size);
        resize->memory_size = resize->memory ? size : 0;
        if (!resize->memory) return false;
        memset(resize->memory, 0, size);
    }
    resize->ring = resize->memory;
    resize->line = resize->ring + ring;
    resize->result = resize->ring + ring + line;
    resize->taps = (const uint8_t **)(void *)(resize->ring + ring + line + result);
    return true;
}

bool resize_start(struct resize *resize, const struct side *x, const struct side *y,
                  unsigned channels, bool is_wide, recmap_interpolation interpolation,
                  bool antialias) {
    if (!resize->path) resize->path = resize_best_path();
    resize->channels = channels;
    resize->is_wide = is_wide;
    resize->next = 0;
    resize->is_copy = x->size == x->scaled && y->size == y->scaled;
    if (!filter_make(&resize->x, x, interpolation, antialias)) return false;
    if (!filter_make(&resize->y, y, interpolation, antialias)) return false;
    resize->row_size = (size_t)(resize->x.end - resize->x.begin) * channels;
    resize->ring_rows = resize->y.taps_max;
    return reserve(resize);
}

void *resize_source_row(struct resize *resize, uint32_t y) {
    return resize->ring + resize->row_bytes * (y % resize->ring_rows) + RESIZE_LEAD;
}

/* 16-bit samples are rare, so they have one path: sums of 30 bits, then of 36. */
static void filter_wide(struct resize *resize, const int16_t *weights, uint32_t taps) {
    const int shift = FILTER_BITS - RESIZE_FRACTION_BITS;
    int32_t *line = resize->line;
    for (size_t i = 0; i < resize->row_size; i++) {
        int64_t sum = 1 << (shift - 1);
        for (uint32_t t = 0; t < taps; t++) {
            uint16_t sample;
            memcpy(&sample, resize->taps[t] + 2 * i, sizeof sample);
            sum += weights[t] * (int64_t)sample;
        }
        line[i] = (int32_t)(sum >> shift);
    }
    const struct filter *filter = &resize->x;
    const int across = FILTER_BITS + RESIZE_FRACTION_BITS;
    uint16_t *row = resize->result;
    for (uint32_t x = 0; x < filter->count; x++)
        for (unsigned c = 0; c < resize->channels; c++) {
            const int32_t *source = line + (size_t)filter->first[x] * resize->channels + c;
            int64_t sum = INT64_C(1) << (across - 1);
            for (uint32_t t = 0; t < filter->taps[x]; t++)
                sum += filter->weights[(size_t)x * filter->taps_stride + t] *
                       (int64_t)source[(size_t)t * resize->channels];
            sum >>= across;
            row[x * resize->channels + c] = (uint16_t)(sum < 0 ? 0 : sum > 65535 ? 65535 : sum);
        }
}

static void make_row(struct resize *resize, uint32_t y) {
    const struct filter *filter = &resize->y;
    const int16_t *weights = filter->weights + (size_t)y * filter->taps_stride;
    uint32_t taps = filter->taps[y];
    if (resize->is_copy) {
        memcpy(resize->result, resize_source_row(resize, y), resize->row_size << resize->is_wide);
        return;
    }
    for (uint32_t t = 0; t < taps; t++)
        resize->taps[t] = resize_source_row(resize, filter->first[y] + t);
    if (resize->is_wide) {
        filter_wide(resize, weights, taps);
        return;
    }
    resize->path->down(resize->line, resize->taps, weights, taps, resize->row_size);
    resize->path->across(resize->result, resize->line, &resize->x, resize->channels);
}

void resize_advance(struct resize *resize, uint32_t y, resize_row_fn *put, void *context) {
    const struct filter *filter = &resize->y;
    while (resize->next < filter->count &&
           filter->first[resize->next] + filter->taps[resize->next] - 1 <= y) {
        make_row(resize, resize->next);
        put(context, resize->next++, resize->result);
    }
}
