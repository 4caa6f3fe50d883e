#include "parse/image/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"

/* Everything is measured in units of 1 / (2 * scaled) source pixels, so that centres of pixels and
 * distances between them are whole numbers, and the weights exact fractions of their sum. */
struct kernel {
    recmap_interpolation interpolation;
    int64_t unit;    /* the distance of 1 in the kernel's definition */
    int64_t support; /* beyond it the kernel is 0 */
};

void filter_deinit(struct filter *filter) {
    free(filter->memory);
    *filter = (struct filter){0};
}

static struct kernel kernel_of(const struct side *side, recmap_interpolation interpolation,
                               bool antialias) {
    uint32_t widest = antialias && side->size > side->scaled ? side->size : side->scaled;
    struct kernel kernel = {interpolation, 2 * (int64_t)widest, 0};
    kernel.support = interpolation == RECMAP_BICUBIC ? 2 * kernel.unit : kernel.unit;
    return kernel;
}

/* The bicubic kernel with a = -1/2, times 2 unit^3. */
static __int128 weigh_bicubic(__int128 n, __int128 u) {
    if (n < u) return 3 * n * n * n - 5 * n * n * u + 2 * u * u * u;
    if (n < 2 * u) return -n * n * n + 5 * n * n * u - 8 * n * u * u + 4 * u * u * u;
    return 0;
}

static __int128 weigh(const struct kernel *kernel, int64_t distance) {
    int64_t n = distance < 0 ? -distance : distance;
    if (kernel->interpolation == RECMAP_BICUBIC) return weigh_bicubic(n, kernel->unit);
    return n < kernel->unit ? kernel->unit - n : 0;
}

/* round(2^14 * part / whole), half up, for a part that may be negative. */
static int64_t scale_part(__int128 part, __int128 whole) {
    __int128 above = part * (2 << FILTER_BITS) + whole, below = 2 * whole;
    if (above >= 0 && above >> 64 == 0 && below >> 64 == 0)
        return (int64_t)((uint64_t)above / (uint64_t)below);
    __int128 quotient = above / below;
    return (int64_t)(above % below < 0 ? quotient - 1 : quotient);
}

/* The centre of pixel `out` of the result, in units. */
static int64_t centre_of(const struct side *side, uint32_t out) {
    return (2 * (int64_t)out + 1) * side->size;
}

/* The first source pixel whose centre is nearer than the support, or the first one. */
static uint32_t first_tap(const struct side *side, const struct kernel *kernel, uint32_t out) {
    int64_t begin = centre_of(side, out) - kernel->support, step = 2 * (int64_t)side->scaled;
    if (begin < 0) return 0;
    /* The smallest j with (2j + 1) * scaled > begin. */
    int64_t j = (begin + side->scaled) / step;
    return (uint32_t)j;
}

/* One more than the last such pixel. */
static uint32_t end_tap(const struct side *side, const struct kernel *kernel, uint32_t out) {
    int64_t end = centre_of(side, out) + kernel->support, step = 2 * (int64_t)side->scaled;
    /* The number of j with (2j + 1) * scaled < end. */
    int64_t count = (end - 1 + side->scaled) / step;
    return (uint32_t)(count < side->size ? count : side->size);
}

/* Each weight is the difference of two rounded partial sums, so they add up to 2^14 exactly. */
static void make_weights(int16_t *weights, uint32_t first, uint32_t count, const struct side *side,
                         const struct kernel *kernel, uint32_t out) {
    const int64_t centre = centre_of(side, out), step = 2 * (int64_t)side->scaled;
    int64_t distance = (2 * (int64_t)first + 1) * side->scaled - centre;
    __int128 whole = 0, part = 0;
    int64_t before = 0;
    for (uint32_t i = 0; i < count; i++) whole += weigh(kernel, distance + i * step);
    for (uint32_t i = 0; i < count; i++) {
        part += weigh(kernel, distance + i * step);
        int64_t upto = scale_part(part, whole);
        weights[i] = (int16_t)(upto - before);
        before = upto;
    }
}

static bool reserve(struct filter *filter, uint32_t count, uint32_t taps_stride) {
    size_t lists = 2 * (size_t)count * sizeof *filter->first;
    size_t size = lists + (size_t)count * taps_stride * sizeof *filter->weights;
    if (size > filter->memory_size) {
        free(filter->memory);
        filter->memory = malloc(size);
        filter->memory_size = filter->memory ? size : 0;
        if (!filter->memory) return false;
    }
    filter->begin = filter->end = 0;
    filter->count = count;
    filter->taps_stride = taps_stride;
    filter->first = filter->memory;
    filter->taps = filter->first + count;
    filter->weights = (int16_t *)(filter->taps + count);
    memset(filter->weights, 0, (size_t)count * taps_stride * sizeof *filter->weights);
    return true;
}

/* The source pixel that holds the centre, as in torchvision's "nearest-exact". Pillow adds up steps
 * in floating point, and may take another one where a centre lies between two pixels. */
static bool make_nearest(struct filter *filter, const struct side *side) {
    if (!reserve(filter, side->count, FILTER_TAPS_ALIGN)) return false;
    for (uint32_t i = 0; i < side->count; i++) {
        filter->first[i] = (uint32_t)(centre_of(side, side->cut + i) / (2 * (int64_t)side->scaled));
        filter->taps[i] = 1;
        filter->weights[(size_t)i * FILTER_TAPS_ALIGN] = 1 << FILTER_BITS;
    }
    return true;
}

/* Finds the source's pixels that are needed, and lets `first` count from their begin. First pixels
 * and ends never descend. */
static void set_bounds(struct filter *filter) {
    filter->taps_max = 1;
    if (!filter->count) return;
    filter->begin = filter->first[0];
    filter->end = filter->first[filter->count - 1] + filter->taps[filter->count - 1];
    for (uint32_t i = 0; i < filter->count; i++) {
        filter->first[i] -= filter->begin;
        if (filter->taps[i] > filter->taps_max) filter->taps_max = filter->taps[i];
    }
}

static bool make_smooth(struct filter *filter, const struct side *side,
                        const struct kernel *kernel) {
    uint64_t taps = min_u64((uint64_t)(kernel->support / side->scaled) + 2, side->size);
    taps += (FILTER_TAPS_ALIGN - taps % FILTER_TAPS_ALIGN) % FILTER_TAPS_ALIGN;
    if (!reserve(filter, side->count, (uint32_t)taps)) return false;
    for (uint32_t i = 0; i < side->count; i++) {
        uint32_t out = side->cut + i, first = first_tap(side, kernel, out);
        filter->first[i] = first;
        filter->taps[i] = end_tap(side, kernel, out) - first;
        make_weights(filter->weights + (size_t)i * filter->taps_stride, first, filter->taps[i],
                     side, kernel, out);
    }
    return true;
}

bool filter_make(struct filter *filter, const struct side *side, recmap_interpolation interpolation,
                 bool antialias) {
    bool is_exact = interpolation == RECMAP_NEAREST || side->size == side->scaled;
    const struct kernel kernel = kernel_of(side, interpolation, antialias);
    if (!(is_exact ? make_nearest(filter, side) : make_smooth(filter, side, &kernel))) return false;
    set_bounds(filter);
    return true;
}

static void swap(uint32_t *list, uint32_t i, uint32_t j) {
    const uint32_t value = list[i];
    list[i] = list[j];
    list[j] = value;
}

void filter_mirror(struct filter *filter) {
    for (uint32_t i = 0, j = filter->count - 1; i < filter->count / 2; i++, j--) {
        int16_t *a = filter->weights + (size_t)i * filter->taps_stride;
        int16_t *b = filter->weights + (size_t)j * filter->taps_stride;
        swap(filter->first, i, j);
        swap(filter->taps, i, j);
        for (uint32_t t = 0; t < filter->taps_stride; t++) {
            const int16_t weight = a[t];
            a[t] = b[t];
            b[t] = weight;
        }
    }
}
