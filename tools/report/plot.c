#include "report/plot.h"

#include <math.h>

#include "report/line.h"

static void begin(struct html *html, const char *shape, double width, const char *label) {
    html_format(html,
                "<svg class=\"%s\" viewBox=\"0 0 %g 100\" preserveAspectRatio=\"none\" "
                "role=\"img\" aria-label=\"%s\">",
                shape, width, label);
}

void plot_bars(struct html *html, const uint64_t *heights, size_t count, const char *label) {
    uint64_t highest = 1;
    for (size_t i = 0; i < count; i++)
        if (heights[i] > highest) highest = heights[i];
    begin(html, "plot", (double)count, label);
    html_put(html, "<path d=\"");
    for (size_t i = 0; i < count; i++) {
        double height = 100 * (double)heights[i] / (double)highest;
        if (!heights[i]) continue;
        if (height < 1) height = 1;
        html_format(html, "M%zu 100v-%.3gh.9v%.3gz", i, height, height);
    }
    html_put(html, "\"/></svg>");
}

void plot_histogram(struct html *html, const struct histogram *histogram, const char *label) {
    plot_bars(html, histogram->counts, histogram->bin_count, label);
}

static void draw_counts(struct html *html, const struct histogram *histogram) {
    double total = 0, sum = 0;
    for (size_t i = 0; i < histogram->bin_count; i++) total += (double)histogram->counts[i];
    html_put(html, "<polyline class=\"line\" points=\"0,100");
    for (size_t i = 0; i < histogram->bin_count; i++) {
        sum += (double)histogram->counts[i];
        html_format(html, " %zu,%.4g", i + 1, total > 0 ? 100 - 100 * sum / total : 100);
    }
    html_put(html, "\"/>");
}

static void draw_sums(struct html *html, const struct histogram *histogram) {
    double total = 0, sum = 0;
    for (size_t i = 0; i < histogram->bin_count; i++) total += histogram->sums[i];
    html_put(html, "<polyline class=\"line dashed\" points=\"0,100");
    for (size_t i = 0; i < histogram->bin_count; i++) {
        sum += histogram->sums[i];
        html_format(html, " %zu,%.4g", i + 1, total > 0 ? 100 - 100 * sum / total : 100);
    }
    html_put(html, "\"/>");
}

void plot_shares(struct html *html, const struct histogram *histogram, const char *label) {
    begin(html, "plot", (double)histogram->bin_count, label);
    draw_counts(html, histogram);
    draw_sums(html, histogram);
    html_put(html, "</svg>");
}

static double number_at(const recmap_example_part *part, size_t index) {
    return part->int64s ? (double)part->int64s[index] : (double)part->floats[index];
}

void plot_sparkline(struct html *html, const recmap_example_part *part) {
    size_t places[LINE_POINTS_MAX], count = line_choose(places, part);
    double min = INFINITY, max = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        double number = number_at(part, places[i]);
        if (!isfinite(number)) continue;
        min = fmin(min, number);
        max = fmax(max, number);
    }
    if (!(min < max)) return;
    begin(html, "sparkline", (double)(count - 1), "the values in their order");
    html_put(html, "<polyline class=\"line\" points=\"");
    for (size_t i = 0; i < count; i++) {
        double number = number_at(part, places[i]);
        if (isfinite(number))
            html_format(html, "%zu,%.3g ", i, 98 - 96 * ((number - min) / (max - min)));
    }
    html_put(html, "\"/></svg>");
    if (part->count > count)
        html_format(html,
                    "<div class=\"note\">line: minimum and maximum of each of %d equal parts</div>",
                    (int)LINE_PARTS);
}

void plot_points(struct html *html, const uint64_t *values, size_t count, uint64_t limit,
                 const char *label) {
    enum { WIDTH = 1000 };
    const double dot_width = 3, dot_height = 1;
    double x_step = count > 1 ? (WIDTH - dot_width) / (double)(count - 1) : 0;
    double y_step = limit > 1 ? (100 - dot_height) / (double)(limit - 1) : 0;
    begin(html, "points", WIDTH, label);
    html_put(html, "<path d=\"");
    for (size_t i = 0; i < count; i++)
        html_format(html, "M%.4g %.4gh%gv%gh-%gz", x_step * (double)i,
                    100 - dot_height - y_step * (double)values[i], dot_width, dot_height,
                    dot_width);
    html_put(html, "\"/></svg>");
}

void plot_strip(struct html *html, const struct plot_span *spans, size_t count, uint64_t size,
                const char *label) {
    enum { WIDTH = 1000, WIDTH_MIN = 4 };
    begin(html, "strip", WIDTH, label);
    html_format(html, "<path class=\"good\" d=\"M0 0h%dv100h-%dz\"/><path class=\"bad\" d=\"",
                WIDTH, WIDTH);
    double drawn_end = 0, scale = size ? (double)WIDTH / (double)size : 0;
    for (size_t i = 0; i < count; i++) {
        double start = floor(scale * (double)spans[i].offset);
        double width = ceil(scale * (double)spans[i].size);
        if (width < WIDTH_MIN) width = WIDTH_MIN;
        if (width > WIDTH) width = WIDTH;
        if (start > WIDTH - width) start = WIDTH - width;
        if (start + width <= drawn_end) continue; /* so a strip has at most WIDTH marks */
        html_format(html, "M%.0f 0h%.0fv100h-%.0fz", start, width, width);
        drawn_end = start + width;
    }
    html_put(html, "\"/></svg>");
}

void plot_axis(struct html *html, const char *low, const char *high) {
    html_format(html, "<div class=\"axis\"><span>%s</span><span>%s</span></div>", low, high);
}
