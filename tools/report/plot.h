/* Plots as inline SVG, which stretch to the width of their place. They contain only numbers. */
#ifndef RECMAP_TOOLS_REPORT_PLOT_H
#define RECMAP_TOOLS_REPORT_PLOT_H

#include <recmap/example.h>

#include "report/histogram.h"
#include "report/html.h"

/* Bars of the given heights. `label` says what the plot shows, for readers that do not see it. */
void plot_bars(struct html *html, const uint64_t *heights, size_t count, const char *label);

/* A histogram's bars. */
void plot_histogram(struct html *html, const struct histogram *histogram, const char *label);

/* Two lines over the bins of a histogram: the cumulative shares of its counts and of its sums. */
void plot_shares(struct html *html, const struct histogram *histogram, const char *label);

/* A small line through the numbers of a feature, of which those that are not finite are left out. A
 * note says which ones it shows, if these are not all. */
void plot_sparkline(struct html *html, const recmap_example_part *part);

/* Points from left to right in equal distances, at the heights `values`, which are below `limit`.
 */
void plot_points(struct html *html, const uint64_t *values, size_t count, uint64_t limit,
                 const char *label);

/* A part of a strip, in the strip's unit. */
struct plot_span {
    uint64_t offset;
    uint64_t size;
};

/* Marks spans on a strip of `size` units. */
void plot_strip(struct html *html, const struct plot_span *spans, size_t count, uint64_t size,
                const char *label);

/* The ends of a plot's horizontal axis. */
void plot_axis(struct html *html, const char *low, const char *high);

#endif
