/* Any bytes as a record whose elements are counted, as values and as raw numbers: there are as many
 * as decoding the record gives. */
#include <stdlib.h>

#include <recmap/parser.h>

#include "fuzz/fuzz.h"
#include "index/extract/counting.h"
#include "parse/columns/columns.h"
#include "parse/example/example.h"
#include "parse/example/sequence_features.h"
#include "parse/plan/plan.h"

static void check(bool holds) {
    if (!holds) abort();
}

/* What is counted, and how the record is decoded to compare. */
struct kind {
    recmap_element element;
    bool is_raw;
};

static const struct kind kinds[] = {
    {RECMAP_ELEMENT_INT64, false}, {RECMAP_ELEMENT_FLOAT32, false}, {RECMAP_ELEMENT_BYTES, false},
    {RECMAP_ELEMENT_UINT16, true}, {RECMAP_ELEMENT_INT64, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* What is made once for a kind. */
struct counter {
    struct counting *counting;
    struct example_names *names;
    recmap_parser *parser;
};

static struct counter make_counter(const struct kind *kind) {
    const char *name = "a";
    recmap_counted_feature counted = {name, kind->is_raw ? kind->element : RECMAP_ELEMENT_NONE};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.counted_features = &counted;
    options.counted_feature_count = 1;
    recmap_feature sliced = {
        .name = name, .kind = RECMAP_FEATURE_SLICED, .element = kind->element, .raw = kind->is_raw};
    struct counter counter;
    check(counting_create(&counter.counting, &options, NULL) == RECMAP_OK);
    check(example_names_create(&counter.names, &name, 1, NULL) == RECMAP_OK);
    check(recmap_parser_create(&counter.parser, &sliced, 1, NULL) == RECMAP_OK);
    return counter;
}

/* Decodes the whole record. Returns false if it does not have such a feature. */
static bool decode(uint64_t *count, const struct counter *counter, const recmap_record *record) {
    static recmap_columns *columns;
    if (!columns) check(recmap_columns_create(&columns, NULL) == RECMAP_OK);
    if (recmap_parser_parse(columns, counter->parser->whole, record, 1, RECMAP_PARSE_RAISE, NULL) !=
        RECMAP_OK)
        return false;
    const recmap_column *column = recmap_columns_get(columns, 0);
    *count = column->value_count;
    return !column->null_count;
}

/* Sets the number of steps of the feature list. Returns false if the lists are malformed. */
static bool count_steps(uint64_t *count, bool *is_there, const recmap_record *record) {
    struct sequence_features sequence = {0};
    bool is_read = sequence_features_read(&sequence, record->data, record->size, NULL) == RECMAP_OK;
    *count = 0;
    *is_there = false;
    for (size_t i = 0; is_read && i < sequence.list_count; i++) {
        const struct sequence_list *list = &sequence.lists[i];
        if (list->name_size != 1 || list->name[0] != 'a') continue;
        *count = list->step_count;
        *is_there = true;
    }
    sequence_features_deinit(&sequence);
    return is_read;
}

/* Counting does not look into values and steps, so it accepts more than decoding does. */
static void compare(const struct kind *kind, const struct counter *counter,
                    const recmap_record *record) {
    struct example_feature feature;
    uint64_t count, expected;
    bool is_list;
    recmap_error error = RECMAP_ERROR_INIT;
    if (!example_lookup(&feature, counter->names, record->data, record->size, NULL)) return;
    recmap_status status =
        counting_read(&count, counter->counting, &feature, record->data, record->size, &error);
    check(status == RECMAP_OK || (status == RECMAP_FEATURE && error.message[0]));
    if (feature.present) {
        if (decode(&expected, counter, record)) check(status == RECMAP_OK && count == expected);
    } else if (count_steps(&expected, &is_list, record)) {
        check(status == (is_list && kind->is_raw ? RECMAP_FEATURE : RECMAP_OK));
        check(status != RECMAP_OK || count == expected);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct counter counters[KINDS];
    recmap_record record = {.data = data, .size = size};
    for (size_t i = 0; i < KINDS; i++) {
        if (!counters[i].counting) counters[i] = make_counter(&kinds[i]);
        compare(&kinds[i], &counters[i], &record);
    }
    return 0;
}
