#include "schema_table.h"

#include <stdbool.h>
#include <string.h>

#include "message.h"

enum { TEXT_SIZE = 64 };

/* Digits of the least and the most of a column of spans, so that all rows are aligned. */
typedef struct span_width {
    int least;
    int most;
} span_width;

typedef struct table_widths {
    span_width steps;
    span_width values;
    int range;
} table_widths;

static void widen(int *width, uint64_t number) {
    int size = snprintf(NULL, 0, "%llu", (unsigned long long)number);
    if (size > *width) *width = size;
}

static void widen_span(span_width *width, uint64_t least, uint64_t most) {
    widen(&width->least, least);
    widen(&width->most, most);
}

static int span_size(span_width width) {
    return width.least + 2 + width.most;
}

static void print_span(FILE *stream, span_width width, uint64_t least, uint64_t most) {
    if (least == most) fprintf(stream, "%*llu  ", span_size(width), (unsigned long long)least);
    else
        fprintf(stream, "%*llu..%-*llu  ", width.least, (unsigned long long)least, width.most,
                (unsigned long long)most);
}

static int format_floats(char *text, const recmap_schema_feature *feature) {
    const char *nan = feature->nan_count ? "NaN" : "";
    if (!feature->float_count) return snprintf(text, TEXT_SIZE, "%s", nan);
    double least = (double)feature->min_float, most = (double)feature->max_float;
    const char *comma = feature->nan_count ? ", " : "";
    if (feature->min_float >= feature->max_float)
        return snprintf(text, TEXT_SIZE, "%g%s%s", least, comma, nan);
    return snprintf(text, TEXT_SIZE, "%g..%g%s%s", least, most, comma, nan);
}

/* Between what values lie: of numbers their own range, of bytes that of their sizes. Nothing where
 * there are none, or several kinds. Returns the text's size. */
static int format_range(char *text, const recmap_schema_feature *feature) {
    long long least = feature->min_int64, most = feature->max_int64;
    unsigned long long small = feature->min_size, large = feature->max_size;
    text[0] = 0;
    if (!strcmp(feature->kind, "float")) return format_floats(text, feature);
    if (!strcmp(feature->kind, "int64") && feature->int64_count)
        return least == most ? snprintf(text, TEXT_SIZE, "%lld", least)
                             : snprintf(text, TEXT_SIZE, "%lld..%lld", least, most);
    if (!strcmp(feature->kind, "bytes") && feature->bytes_count)
        return small == large ? snprintf(text, TEXT_SIZE, "%llu byte%s", small, plural(small))
                              : snprintf(text, TEXT_SIZE, "%llu..%llu bytes", small, large);
    return 0;
}

static void print_row(FILE *stream, const recmap_schema_feature *feature, table_widths widths) {
    char range[TEXT_SIZE];
    format_range(range, feature);
    fprintf(stream, "%-6s  %6.2f %%  ", feature->kind, feature->share * 100);
    if (feature->is_list) print_span(stream, widths.steps, feature->min_steps, feature->max_steps);
    print_span(stream, widths.values, feature->min_length, feature->max_length);
    fprintf(stream, "%-*s  ", widths.range, range);
    print_readable(stream, feature->name, feature->name_size);
    putc('\n', stream);
}

/* The columns that the rows of these features, or lists, need. Returns how many rows there are. */
static size_t measure(table_widths *widths, const recmap_schema *schema, bool is_list) {
    size_t rows = 0;
    *widths = (table_widths){{5, 5}, {5, 5}, (int)strlen("range")};
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
                       table_widths widths) {
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
    table_widths widths;
    size_t features = measure(&widths, schema, false);
    bool has_lists = features < recmap_schema_feature_count(schema);
    if (features || !has_lists) print_rows(stream, schema, false, widths);
    if (!has_lists) return;
    if (features) putc('\n', stream);
    measure(&widths, schema, true);
    print_rows(stream, schema, true, widths);
}
