/* The section on the order in which a run reads the records. */
#include <inttypes.h>

#include <recmap/order.h>
#include <recmap/rows.h>

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

/* The number of positions in the epoch. */
static uint64_t position_count(const struct report *report) {
    return report->order.rows ? recmap_order_count(report->order.rows) : report->view.count;
}

/* Sets the records that the rows at the positions begin with. A row without pieces is all padding;
 * it repeats the record of the previous point. */
static recmap_status sample_rows(uint64_t *numbers, const uint64_t *positions, size_t points,
                                 const struct report_order *order, recmap_error *error) {
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    RETURN_IF_FAILED(
        recmap_order_pieces(&pieces, order->rows, order->epoch, positions, points, error));
    for (size_t row = 0, first = 0; row < pieces.row_count; first = pieces.ends[row++]) {
        if (first < pieces.ends[row]) numbers[row] = pieces.items[first].record;
        else numbers[row] = row ? numbers[row - 1] : 0;
    }
    recmap_pieces_deinit(&pieces);
    return RECMAP_OK;
}

static recmap_status sample_shuffled(uint64_t *numbers, const uint64_t *positions, size_t points,
                                     const struct report *report, recmap_error *error) {
    recmap_order *order = NULL;
    RETURN_IF_FAILED(recmap_order_shuffled(&order, report->view.count, report->order.seed, error));
    recmap_status status =
        recmap_order_at(numbers, order, report->order.epoch, positions, points, error);
    recmap_order_release(order);
    return status;
}

/* Sets the record numbers at the points. */
static recmap_status sample_order(uint64_t *numbers, size_t points, const struct report *report,
                                  recmap_error *error) {
    uint64_t positions[POINTS_MAX];
    for (size_t i = 0; i < points; i++)
        positions[i] = numbers[i] = position_of(i, points, position_count(report));
    if (report->order.rows) return sample_rows(numbers, positions, points, &report->order, error);
    if (report->order.is_shuffled)
        RETURN_IF_FAILED(sample_shuffled(numbers, positions, points, report, error));
    for (size_t i = 0; i < points; i++) numbers[i] = view_number(&report->view, numbers[i]);
    return RECMAP_OK;
}

static void write_plot(struct html *html, const struct report *report, const uint64_t *numbers,
                       size_t points) {
    char last[64];
    uint64_t record_count = recmap_dataset_count(report->view.dataset);
    snprintf(last, sizeof last, "position %" PRIu64, position_count(report) - 1);
    html_format(html, "<div class=\"card\"><div class=\"note\">record %" PRIu64 "</div>",
                record_count - 1);
    plot_points(html, numbers, points, record_count, "record number by position in the epoch");
    html_put(html, "<div class=\"note\">record 0</div>");
    plot_axis(html, "position 0", last);
    html_put(html, "</div>\n");
}

static void write_title(struct html *html, const struct report *report) {
    const struct report_order *order = &report->order;
    html_put(html, "<section id=\"order\">\n<h2>Order</h2>\n<p>");
    if (order->rows)
        html_format(html, "Rows of %zu element%s", recmap_order_row_width(order->rows),
                    plural(recmap_order_row_width(order->rows)));
    else html_put(html, order->is_shuffled ? "Shuffled" : "The order of the selection.");
    if (order->rows || order->is_shuffled)
        html_format(html, " with seed %" PRIu64 ", epoch %" PRIu64 ".", order->seed, order->epoch);
    html_format(html, " Each point is %s at a position of the epoch.</p>\n",
                order->rows ? "the record with which a row begins" : "a record that is read");
}

recmap_status page_write_order(struct html *html, const struct report *report,
                               recmap_error *error) {
    uint64_t numbers[POINTS_MAX], count = position_count(report);
    size_t points = count < POINTS_MAX ? (size_t)count : POINTS_MAX;
    const struct report_order *order = &report->order;
    bool is_stored = !order->is_shuffled && !order->rows && !report->view.selection;
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
