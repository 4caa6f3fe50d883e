#include "report/histogram.h"

#include <math.h>

struct histogram histogram_linear(double min, double max, bool are_integers) {
    struct histogram histogram = {.min = min, .max = max, .bin_count = HISTOGRAM_BINS_MAX};
    if (are_integers && max - min < HISTOGRAM_BINS_MAX) {
        histogram.bin_count = (size_t)(max - min) + 1;
        histogram.max = max + 1;
    }
    if (!(min < max)) histogram.bin_count = 1;
    return histogram;
}

struct histogram histogram_logarithmic(double min, double max) {
    return (struct histogram){.min = log1p(min),
                              .max = log1p(max),
                              .is_logarithmic = true,
                              .bin_count = min < max ? HISTOGRAM_BINS_MAX : 1};
}

void histogram_add(struct histogram *histogram, double number) {
    double place = histogram->is_logarithmic ? log1p(number) : number;
    double range = histogram->max - histogram->min;
    double share = range > 0 ? (place - histogram->min) / range : 0;
    size_t bin = share > 0 ? (size_t)(share * (double)histogram->bin_count) : 0;
    if (bin >= histogram->bin_count) bin = histogram->bin_count - 1;
    histogram->counts[bin]++;
    histogram->sums[bin] += number;
}
