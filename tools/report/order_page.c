/* The section on the order in which a run reads the records. */
#include <inttypes.h>

#include <recmap/order.h>

#include "report/page.h"
#include "report/plot.h"
#include "terminal/message.h"

enum { POINTS_MAX = 2000 };

/* The points are evenly spaced positions, from the first to the last. */
static uint64_t position_of(size_t point, size_t points, uint64_t count) {
    if (points < 2) return 0;
    uint64_t last = count - 1, gaps = points - 1;
    return last / gaps * point + last % gaps * point / gaps;
}

/* Sets the record numbers at the points. */
static recmap_status sample_order(uint64_t *numbers, size_t points, const struct report *report,
                                  recmap_error *error) {
    const struct view *view = &report->view;
    uint64_t positions[POINTS_MAX];
    for (size_t i = 0; i < points; i++)
        positions[i] = numbers[i] = position_of(i, points, view->count);
    if (report->order.is_shuffled) {
        recmap_order *order = NULL;
        RETURN_IF_FAILED(recmap_order_shuffled(&order, view->count, report->order.seed, error));
        recmap_status status =
            recmap_order_at(numbers, order, report->order.epoch, positions, points, error);
        recmap_order_release(order);
        if (status != RECMAP_OK) return status;
    }
    for (size_t i = 0; i < points; i++) numbers[i] = view_number(view, numbers[i]);
    return RECMAP_OK;
}

static void write_plot(struct html *html, const struct report *report, const uint64_t *numbers,
                       size_t points) {
    char last[64];
    uint64_t record_count = recmap_dataset_count(report->view.dataset);
    snprintf(last, sizeof last, "position %" PRIu64, report->view.count - 1);
    html_format(html, "<div class=\"card\"><div class=\"note\">record %" PRIu64 "</div>",
                record_count - 1);
    plot_points(html, numbers, points, record_count, "record number by position in the epoch");
    html_put(html, "<div class=\"note\">record 0</div>");
    plot_axis(html, "position 0", last);
    html_put(html, "</div>\n");
}

static void write_title(struct html *html, const struct report *report) {
    html_put(html, "<section id=\"order\">\n<h2>Order</h2>\n<p>");
    if (report->order.is_shuffled)
        html_format(html, "Shuffled with seed %" PRIu64 ", epoch %" PRIu64 ".", report->order.seed,
                    report->order.epoch);
    else html_put(html, "The order of the selection.");
    html_put(html, " Each point is a record that is read at a position of the epoch.</p>\n");
}

recmap_status page_write_order(struct html *html, const struct report *report,
                               recmap_error *error) {
    uint64_t numbers[POINTS_MAX], count = report->view.count;
    size_t points = count < POINTS_MAX ? (size_t)count : POINTS_MAX;
    bool is_stored = !report->order.is_shuffled && !report->view.selection;
    if (!points || is_stored) return RECMAP_OK;
    RETURN_IF_FAILED(sample_order(numbers, points, report, error));
    write_title(html, report);
    write_plot(html, report, numbers, points);
    if (points < count)
        html_format(html,
                    "<p class=\"note\">%zu evenly spaced of %" PRIu64 " positions are shown.</p>\n",
                    points, count);
    html_put(html, "</section>\n");
    return RECMAP_OK;
}
