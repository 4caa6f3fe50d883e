/* Any bytes as a record from which stretches are cut: a stretch that is cut is the one that
 * decoding the whole record gives.. */
#include <stdlib.h>
#include <string.h>

#include <recmap/parser.h>

#include "columns/columns.h"
#include "fuzz/fuzz.h"
#include "slices/cut.h"

enum { FEATURES = 5 };

static void check(bool holds) {
    if (!holds) abort();
}

#define SLICED(feature_name, its_element, its_raw)                                                 \
    {                                                                                              \
        .name = (feature_name), .key = "a", .kind = RECMAP_FEATURE_SLICED,                         \
        .element = (its_element), .raw = (its_raw)                                                 \
    }

static recmap_parser *make_parser(size_t feature) {
    static const recmap_feature features[FEATURES] = {
        SLICED("int64", RECMAP_ELEMENT_INT64, 0),   SLICED("int16", RECMAP_ELEMENT_INT16, 0),
        SLICED("float", RECMAP_ELEMENT_FLOAT32, 0), SLICED("bytes", RECMAP_ELEMENT_BYTES, 0),
        SLICED("raw", RECMAP_ELEMENT_UINT32, 1),
    };
    recmap_parser *parser = NULL;
    check(recmap_parser_create(&parser, &features[feature], 1, NULL) == RECMAP_OK);
    return parser;
}

/* Compares bytes values by their contents. */
static bool is_equal(const void *cut, const void *whole, size_t count, recmap_element element) {
    const recmap_bytes *a = cut, *b = whole;
    if (element != RECMAP_ELEMENT_BYTES)
        return !count || !memcmp(cut, whole, count * recmap_element_size(element));
    for (size_t i = 0; i < count; i++)
        if (a[i].size != b[i].size || memcmp(a[i].data, b[i].data, a[i].size)) return false;
    return true;
}

static void compare(const struct sink *sink, const recmap_parser *parser,
                    const recmap_record *record, const struct stretch *stretch) {
    recmap_columns *columns;
    check(recmap_columns_create(&columns, NULL) == RECMAP_OK);
    if (recmap_parser_parse(columns, parser->whole, record, 1, RECMAP_PARSE_RAISE, NULL) ==
        RECMAP_OK) {
        const recmap_column *column = recmap_columns_get(columns, 0);
        size_t size = recmap_element_size(column->element);
        const uint8_t *values = column->views ? (const void *)column->views : column->values;
        /* The end is only looked for by a stretch that reaches it. */
        uint64_t end = stretch->first + stretch->count;
        check(column->value_count >= end);
        check(end < stretch->total || column->value_count == end);
        check(is_equal(sink->values.data, values + stretch->first * size, (size_t)stretch->count,
                       column->element));
    }
    recmap_columns_destroy(columns);
}

static void cut(const recmap_parser *parser, const recmap_record *record,
                const struct stretch *stretch) {
    struct slice_span span;
    struct sink sink = {0};
    struct list_marks_cache *marks = list_marks_cache_create();
    size_t size = recmap_element_size(parser->slices[0].slot.element);
    check(marks && buffer_reserve(&sink.values, 0, (size_t)stretch->count * size));
    if (slice_find(&span, parser, record) &&
        slice_cut(&sink, &parser->slices[0], &span, stretch, record, marks))
        compare(&sink, parser, record, stretch);
    sink_deinit(&sink);
    list_marks_cache_destroy(marks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (size_t feature = 0; feature < FEATURES; feature++) {
        recmap_parser *parser = make_parser(feature);
        recmap_record record = {.data = data, .size = size};
        for (uint64_t first = 0; first < 4; first++)
            for (uint64_t count = 1; count < 4; count++)
                for (uint64_t rest = 0; rest < 2; rest++)
                    cut(parser, &record, &(struct stretch){first, count, first + count + rest, 0});
        recmap_parser_release(parser);
    }
    return 0;
}
