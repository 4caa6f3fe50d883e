/* The section on features. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/page.h"
#include "report/plot.h"
#include "schemas/table_kind.h"
#include "terminal/message.h"

/* The features that follow the open ones are shown as one line each, until they are opened. */
enum { FEATURES_SHOWN_MAX = 256, FEATURES_OPEN_MAX = 24, NAME_SHOWN_MAX = 200, NUMBER_SIZE = 32 };

static bool is_numeric(const struct sampled_value *value) {
    return value->type == RECMAP_TYPE_INT64 ||
           (value->type == RECMAP_TYPE_FLOAT && isfinite(value->as.number));
}

static double number_of(const struct sampled_value *value) {
    return value->type == RECMAP_TYPE_INT64 ? (double)value->as.int64 : (double)value->as.number;
}

/* Writes the histogram of the sample's finite numbers, with at least two different ones. */
static void write_histogram(struct html *html, const struct value_sample *sample,
                            const char *title) {
    double min = INFINITY, max = -INFINITY;
    bool are_integers = true;
    for (size_t i = 0; i < sample->count; i++) {
        if (!is_numeric(&sample->values[i])) continue;
        double number = number_of(&sample->values[i]);
        min = fmin(min, number);
        max = fmax(max, number);
        if (sample->values[i].type != RECMAP_TYPE_INT64) are_integers = false;
    }
    if (!(min < max)) return;
    struct histogram histogram = histogram_linear(min, max, are_integers);
    for (size_t i = 0; i < sample->count; i++)
        if (is_numeric(&sample->values[i]))
            histogram_add(&histogram, number_of(&sample->values[i]));
    char low[NUMBER_SIZE], high[NUMBER_SIZE];
    snprintf(low, sizeof low, "%.6g", min);
    snprintf(high, sizeof high, "%.6g", max);
    html_format(html, "<div><h3>%s</h3>", title);
    plot_histogram(html, &histogram, title);
    plot_axis(html, low, high);
    html_put(html, "</div>\n");
}

static void write_value(struct html *html, const struct sampled_value *value) {
    if (value->type == RECMAP_TYPE_INT64)
        html_format(html, "<code>%" PRId64 "</code>", value->as.int64);
    else if (value->type == RECMAP_TYPE_FLOAT)
        html_format(html, "<code>%.9g</code>", (double)value->as.number);
    else {
        html_put(html, "<code>&quot;");
        html_text(html, value->as.bytes, value->size, SHORT_VALUE_MAX);
        html_put(html, "&quot;</code>");
    }
}

/* Writes the most frequent values, if any value occurs twice. Sorts the sample. */
static void write_frequent(struct html *html, struct value_sample *sample) {
    struct frequent_value values[VALUES_SHOWN_MAX];
    size_t different_count;
    value_sample_sort(sample);
    size_t count = value_sample_find_frequent(values, &different_count, sample);
    if (!count || values[0].count < 2) return;
    html_put(html, "<div><h3>Most frequent values</h3><table>\n");
    for (size_t i = 0; i < count; i++) {
        html_put(html, "<tr><td>");
        write_value(html, values[i].value);
        html_format(html,
                    "</td><td class=\"number\">%zu</td><td class=\"number\">%.1f %%</td></tr>\n",
                    values[i].count, 100 * (double)values[i].count / (double)sample->count);
    }
    html_format(html,
                "</table><div class=\"note\">%zu different value%s among %zu sampled short "
                "value%s</div></div>\n",
                different_count, plural(different_count), sample->count, plural(sample->count));
}

static void write_span(struct html *html, const char *title, uint64_t min, uint64_t max) {
    html_format(html, "<tr><th>%s</th><td>", title);
    if (min == max) html_format(html, "%" PRIu64 "</td></tr>\n", min);
    else html_format(html, "%" PRIu64 " to %" PRIu64 "</td></tr>\n", min, max);
}

static void write_ranges(struct html *html, const recmap_schema_feature *feature) {
    if (feature->int64_count && feature->min_int64 == feature->max_int64)
        html_format(html, "<tr><th>int64</th><td>%" PRId64 "</td></tr>\n", feature->min_int64);
    else if (feature->int64_count)
        html_format(html, "<tr><th>int64</th><td>%" PRId64 " to %" PRId64 "</td></tr>\n",
                    feature->min_int64, feature->max_int64);
    if (feature->float_count)
        html_format(html, "<tr><th>float</th><td>%.9g to %.9g</td></tr>\n",
                    (double)feature->min_float, (double)feature->max_float);
    if (feature->nan_count)
        html_format(html, "<tr><th>NaN</th><td>%" PRIu64 " value%s</td></tr>\n", feature->nan_count,
                    plural(feature->nan_count));
    if (feature->bytes_count)
        write_span(html, "bytes per value", feature->min_size, feature->max_size);
}

static void write_feature(struct html *html, const recmap_schema_feature *feature,
                          struct feature_values *values, bool is_open) {
    html_format(html, "<details%s class=\"card\"><summary><b>", is_open ? " open" : "");
    html_text(html, feature->name, feature->name_size, NAME_SHOWN_MAX);
    html_format(html, "</b> %s%s, in %.2f %% of the sampled records</summary>\n", feature->kind,
                feature->is_list ? " list" : "", feature->share * 100);
    html_put(html, "<div class=\"grid\"><div><table class=\"facts\">\n");
    if (feature->is_list)
        write_span(html, "steps per record", feature->min_steps, feature->max_steps);
    write_span(html, feature->is_list ? "values per step" : "values per record",
               feature->min_length, feature->max_length);
    write_ranges(html, feature);
    html_put(html, "</table></div>\n");
    if (values) {
        write_histogram(html, &values->counts,
                        feature->is_list ? "Records by number of steps"
                                         : "Records by number of values");
        write_histogram(html, &values->values, "Values");
        write_frequent(html, &values->values);
    }
    html_put(html, "</div></details>\n");
}

static void write_counts(struct html *html, const struct report *report) {
    const recmap_schema *schema = report->sample.features.schema;
    uint64_t count = recmap_schema_record_count(schema), others = recmap_schema_other_count(schema);
    html_format(html, "<p class=\"note\">Of %" PRIu64 " of %" PRIu64 " records%s.</p>\n", count,
                report->view.count, count < report->view.count ? ", from all parts" : "");
    if (others)
        html_format(html, "<p>%" PRIu64 " of them %s not %s.</p>\n", others,
                    others == 1 ? "is" : "are",
                    table_kind_records(table_kind_of(report->view.dataset)));
}

void page_write_features(struct html *html, struct report *report) {
    struct record_features *features = &report->sample.features;
    size_t count = recmap_schema_feature_count(features->schema);
    html_put(html, "<section id=\"features\">\n<h2>Features</h2>\n");
    write_counts(html, report);
    if (!count) html_put(html, "<p>The sampled records have no features.</p>\n");
    for (size_t i = 0; i < count && i < FEATURES_SHOWN_MAX; i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(features->schema, i);
        write_feature(html, &feature, record_features_find(features, &feature),
                      i < FEATURES_OPEN_MAX);
    }
    if (count > FEATURES_SHOWN_MAX)
        html_format(html, "<p class=\"note\">The first %d of %zu features.</p>\n",
                    FEATURES_SHOWN_MAX, count);
    html_put(html, "</section>\n");
}
