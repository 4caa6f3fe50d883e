/* Any bytes as a record from which stretches are cut, of a feature of an Example and of a feature
 * list: a stretch that is cut is the one that decoding the whole record gives. The steps of the
 * list are also counted: as many as a reader of the whole record finds. */
#include <stdlib.h>
#include <string.h>

#include <recmap/parser.h>

#include "fuzz/fuzz.h"
#include "loader/slices/cut.h"
#include "parse/columns/columns.h"
#include "parse/example/sequence_features.h"
#include "parse/example/step_count.h"

enum { FEATURES = 8 };

static void check(bool holds) {
    if (!holds) abort();
}

#define SLICED(feature_name, its_element, ...)                                                     \
    {                                                                                              \
        .name = (feature_name), .key = "a", .kind = RECMAP_FEATURE_SLICED,                         \
        .element = (its_element), .raw = __VA_ARGS__                                               \
    }

static const uint64_t pair[] = {2};

static recmap_parser *make_parser(size_t feature, bool is_list) {
    static const recmap_feature features[FEATURES] = {
        SLICED("int64", RECMAP_ELEMENT_INT64, 0),
        SLICED("int16", RECMAP_ELEMENT_INT16, 0),
        SLICED("float", RECMAP_ELEMENT_FLOAT32, 0),
        SLICED("bytes", RECMAP_ELEMENT_BYTES, 0),
        SLICED("raw", RECMAP_ELEMENT_UINT32, 1),
        SLICED("pairs", RECMAP_ELEMENT_INT64, 0, .shape = pair, .dimension_count = 1),
        SLICED("raw pairs", RECMAP_ELEMENT_UINT8, 1, .shape = pair, .dimension_count = 1),
        SLICED("zlib", RECMAP_ELEMENT_UINT8, RECMAP_RAW_ZLIB),
    };
    const recmap_feature *wanted = &features[feature];
    recmap_parser *parser = NULL;
    recmap_status status = is_list
                               ? recmap_parser_create_sequence(&parser, NULL, 0, wanted, 1, NULL)
                               : recmap_parser_create(&parser, wanted, 1, NULL);
    check(status == RECMAP_OK);
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
        uint64_t stride = parser->slices[0].stride, total = column->value_count / stride;
        size_t size = recmap_element_size(column->element);
        const uint8_t *values = column->views ? (const void *)column->views : column->values;
        /* The end is only looked for by a stretch that reaches it. */
        uint64_t end = stretch->first + stretch->count;
        check(total >= end);
        check(end < stretch->total || total == end);
        check(is_equal(sink->values.data, values + stretch->first * stride * size,
                       (size_t)(stretch->count * stride), column->element));
    }
    recmap_columns_destroy(columns);
}

/* Lists of an input are too short for marks, so that inputs can share them. */
static void cut(const recmap_parser *parser, const recmap_record *record,
                const struct stretch *stretch) {
    static struct list_marks_cache *marks;
    struct slice_span span;
    struct sink sink = {0};
    uint64_t count = stretch->count * parser->slices[0].stride;
    size_t size = recmap_element_size(parser->slices[0].slot.element);
    if (!marks) marks = list_marks_cache_create();
    check(marks && buffer_reserve(&sink.values, 0, (size_t)count * size));
    if (slice_find(&span, parser, record) &&
        slice_cut(&sink, &parser->slices[0], &span, stretch, NULL, record, marks))
        compare(&sink, parser, record, stretch);
    sink_deinit(&sink);
}

static void cut_all(const recmap_parser *parser, const recmap_record *record) {
    for (uint64_t first = 0; first < 4; first++)
        for (uint64_t count = 1; count < 4; count++)
            for (uint64_t rest = 0; rest < 2; rest++)
                cut(parser, record, &(struct stretch){first, count, first + count + rest, 0});
}

static const struct sequence_list *find_list(const struct sequence_features *sequence,
                                             const char *name) {
    for (size_t i = 0; i < sequence->list_count; i++)
        if (sequence->lists[i].name_size == strlen(name) &&
            !memcmp(sequence->lists[i].name, name, strlen(name)))
            return &sequence->lists[i];
    return NULL;
}

/* Counting accepts more, because it does not look into steps. */
static void count_steps(const uint8_t *data, size_t size) {
    const char *const name = "a";
    struct example_names *names;
    struct sequence_features sequence = {0};
    struct step_count count;
    struct example_fault fault;
    check(example_names_create(&names, &name, 1, NULL) == RECMAP_OK);
    bool is_counted = step_count_read(&count, names, data, size, &fault);
    if (!is_counted) check(fault.reason && fault.offset <= size);
    if (sequence_features_read(&sequence, data, size, NULL) == RECMAP_OK) {
        const struct sequence_list *list = find_list(&sequence, name);
        check(is_counted && count.is_present == (list != NULL));
        check(count.count == (list ? list->step_count : 0));
    }
    sequence_features_deinit(&sequence);
    example_names_destroy(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static recmap_parser *parsers[FEATURES][2];
    recmap_record record = {.data = data, .size = size};
    for (size_t feature = 0; feature < FEATURES; feature++) {
        for (int is_list = 0; is_list < 2; is_list++) {
            recmap_parser **parser = &parsers[feature][is_list];
            if (!*parser) *parser = make_parser(feature, is_list);
            cut_all(*parser, &record);
        }
    }
    count_steps(data, size);
    return 0;
}
