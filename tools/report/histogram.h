/* A histogram of numbers, on a linear or a logarithmic scale. */
#ifndef RECMAP_TOOLS_REPORT_HISTOGRAM_H
#define RECMAP_TOOLS_REPORT_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BINS_MAX = 48 };

struct histogram {
    double min;
    double max;
    bool is_logarithmic;
    size_t bin_count;
    uint64_t counts[HISTOGRAM_BINS_MAX];
    double sums[HISTOGRAM_BINS_MAX]; /* of the numbers in each bin */
};

/* Chooses bins for finite numbers from `min` to `max`. If all are integers and there are few, each
 * has its own bin. On a logarithmic scale, for numbers from 0, the lowest bin begins at log(1 +
 * min). */
struct histogram histogram_linear(double min, double max, bool are_integers);
struct histogram histogram_logarithmic(double min, double max);

void histogram_add(struct histogram *histogram, double number);

#endif
