#include "schemas/schema_table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "terminal/message.h"

enum { TEXT_SIZE = 80 };

/* Digits of the minima and maxima of a column of ranges MIN..MAX, so that all rows are aligned. */
struct span_width {
    int min;
    int max;
};

struct table_widths {
    struct span_width steps;
    struct span_width values;
    int range;
};

static void widen(int *width, uint64_t number) {
    int size = snprintf(NULL, 0, "%" PRIu64, number);
    if (size > *width) *width = size;
}

static void widen_span(struct span_width *width, uint64_t min, uint64_t max) {
    widen(&width->min, min);
    widen(&width->max, max);
}

static int span_size(struct span_width width) {
    return width.min + 2 + width.max;
}

static void print_span(FILE *stream, struct span_width width, uint64_t min, uint64_t max) {
    if (min == max) fprintf(stream, "%*" PRIu64 "  ", span_size(width), min);
    else fprintf(stream, "%*" PRIu64 "..%-*" PRIu64 "  ", width.min, min, width.max, max);
}

static int format_floats(char *text, const recmap_schema_feature *feature) {
    const char *nan = feature->nan_count ? "NaN" : "";
    if (!feature->float_count) return snprintf(text, TEXT_SIZE, "%s", nan);
    double min = (double)feature->min_float, max = (double)feature->max_float;
    const char *comma = feature->nan_count ? ", " : "";
    if (feature->min_float >= feature->max_float)
        return snprintf(text, TEXT_SIZE, "%g%s%s", min, comma, nan);
    return snprintf(text, TEXT_SIZE, "%g..%g%s%s", min, max, comma, nan);
}

static int format_sizes(char *text, const recmap_schema_feature *feature) {
    const uint64_t small = feature->min_size, large = feature->max_size;
    const char *note = feature->image_count == feature->bytes_count ? ", pictures"
                       : feature->image_count                       ? ", some pictures"
                                                                    : "";
    return small == large
               ? snprintf(text, TEXT_SIZE, "%" PRIu64 " byte%s%s", small, plural(small), note)
               : snprintf(text, TEXT_SIZE, "%" PRIu64 "..%" PRIu64 " bytes%s", small, large, note);
}

/* Formats the range of numbers, or of the sizes of bytes values. The text is empty if there are no
 * values or several kinds. Returns the length of the text. */
static int format_range(char *text, const recmap_schema_feature *feature) {
    int64_t min = feature->min_int64, max = feature->max_int64;
    text[0] = 0;
    if (!strcmp(feature->kind, "float")) return format_floats(text, feature);
    if (!strcmp(feature->kind, "int64") && feature->int64_count)
        return min == max ? snprintf(text, TEXT_SIZE, "%" PRId64, min)
                          : snprintf(text, TEXT_SIZE, "%" PRId64 "..%" PRId64, min, max);
    if (!strcmp(feature->kind, "bytes") && feature->bytes_count) return format_sizes(text, feature);
    return 0;
}

static void print_row(FILE *stream, const recmap_schema_feature *feature,
                      struct table_widths widths) {
    char range[TEXT_SIZE];
    format_range(range, feature);
    fprintf(stream, "%-6s  %6.2f %%  ", feature->kind, feature->share * 100);
    if (feature->is_list) print_span(stream, widths.steps, feature->min_steps, feature->max_steps);
    print_span(stream, widths.values, feature->min_length, feature->max_length);
    fprintf(stream, "%-*s  ", widths.range, range);
    print_readable(stream, feature->name, feature->name_size);
    putc('\n', stream);
}

/* Computes the column widths for all features, or all feature lists. Returns the number of rows. */
static size_t measure(struct table_widths *widths, const recmap_schema *schema, bool is_list) {
    size_t rows = 0;
    *widths = (struct table_widths){{5, 5}, {5, 5}, (int)strlen("range")};
    for (size_t i = 0; i < recmap_schema_feature_count(schema); i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        char range[TEXT_SIZE];
        if (is_list != (feature.is_list != 0)) continue;
        int size = format_range(range, &feature);
        if (size > widths->range) widths->range = size;
        widen_span(&widths->steps, feature.min_steps, feature.max_steps);
        widen_span(&widths->values, feature.min_length, feature.max_length);
        rows++;
    }
    return rows;
}

static void print_rows(FILE *stream, const recmap_schema *schema, bool is_list,
                       struct table_widths widths) {
    fprintf(stream, "kind       share  ");
    if (is_list) fprintf(stream, "%*s  ", span_size(widths.steps), "steps");
    fprintf(stream, "%*s  %-*s  %s\n", span_size(widths.values), "values", widths.range, "range",
            is_list ? "feature list" : "feature");
    for (size_t i = 0; i < recmap_schema_feature_count(schema); i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        if (is_list == (feature.is_list != 0)) print_row(stream, &feature, widths);
    }
}

void schema_table_print(FILE *stream, const recmap_schema *schema) {
    struct table_widths widths;
    size_t features = measure(&widths, schema, false);
    bool has_lists = features < recmap_schema_feature_count(schema);
    if (features || !has_lists) print_rows(stream, schema, false, widths);
    if (!has_lists) return;
    if (features) putc('\n', stream);
    measure(&widths, schema, true);
    print_rows(stream, schema, true, widths);
}
