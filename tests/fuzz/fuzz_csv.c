/* Any bytes as a row of CSV, parsed into columns of every kind; the first byte chooses the format.
 * Nothing is read outside the row, and a parsed row gives the same columns among other rows and
 * when its texts are copied. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/table.h>

#include "fuzz/fuzz.h"

enum { FEATURES = 7, ROWS = 3 };

static void check(bool holds) {
    if (!holds) abort();
}

static const uint64_t pair_shape[] = {2};
static const recmap_value minus_one = {.type = RECMAP_TYPE_INT64, .as.int64 = -1};
static const recmap_value nothing = {.type = RECMAP_TYPE_BYTES};

static const recmap_feature features[FEATURES] = {
    {.name = "a",
     .key = "#0",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_BYTES,
     .defaults = &nothing,
     .default_count = 1},
    {.name = "copied",
     .key = "#0",
     .kind = RECMAP_FEATURE_VAR_LEN,
     .element = RECMAP_ELEMENT_BYTES,
     .bytes_mode = RECMAP_BYTES_COPY},
    {.name = "n",
     .key = "#1",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_INT16,
     .defaults = &minus_one,
     .default_count = 1},
    {.name = "x", .key = "#2", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_FLOAT16},
    {.name = "d", .key = "#2", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_FLOAT64},
    {.name = "pair",
     .key = "#1",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_BOOL,
     .shape = pair_shape,
     .dimension_count = 1,
     .defaults = &minus_one,
     .default_count = 0},
    {.name = "u", .key = "#1", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_UINT64},
};

/* The texts of the first column. */
static void check_texts(const recmap_columns *columns, size_t row_count) {
    const recmap_bytes *views = recmap_columns_get(columns, 0)->views;
    for (size_t i = 1; i < row_count; i++)
        check(views[i].size == views[0].size &&
              !memcmp(views[i].data, views[0].data, views[0].size));
}

static void parse(const recmap_parser *parser, const uint8_t *data, size_t size) {
    recmap_columns *columns = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record records[ROWS];
    check(recmap_columns_create(&columns, &error) == RECMAP_OK);
    for (uint64_t i = 0; i < ROWS; i++) records[i] = (recmap_record){data, size, i, NULL};
    recmap_status one =
        recmap_parser_parse(columns, parser, records, 1, RECMAP_PARSE_RAISE, &error);
    check(one == RECMAP_OK || ((one == RECMAP_CORRUPT || one == RECMAP_FEATURE) &&
                               error.record == 0 && error.message[0]));
    check(one == RECMAP_OK || error.offset == RECMAP_NO_OFFSET || error.offset <= size);
    recmap_status all =
        recmap_parser_parse(columns, parser, records, ROWS, RECMAP_PARSE_RAISE, &error);
    check(all == one);
    if (all == RECMAP_OK) check_texts(columns, ROWS);
    recmap_columns_destroy(columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char header[] = "one,two,three", delimiters[] = ",;\t|";
    if (!size) return 0;
    recmap_csv_options options = RECMAP_CSV_OPTIONS_INIT;
    options.delimiter = delimiters[data[0] & 3];
    options.no_quotes = data[0] & 4;
    options.separator = data[0] & 8 ? ';' : ' ';
    options.na = data[0] & 16 ? "NA" : NULL;
    if (data[0] & 32 && options.delimiter == ',') {
        options.header = header;
        options.header_size = sizeof header - 1;
    }
    size_t count = data[0] & 64 ? FEATURES : 1;
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    uint8_t *row = malloc(size);
    check(row != NULL);
    memcpy(row, data + 1, size - 1);
    check(recmap_parser_create_csv(&parser, features, count, &options, &error) == RECMAP_OK);
    parse(parser, row, size - 1);
    recmap_parser_release(parser);
    /* The row is a header too, which must not be believed. */
    options.header = (const char *)row;
    options.header_size = size - 1;
    if (recmap_parser_create_csv(&parser, features, 1, &options, &error) == RECMAP_OK) {
        parse(parser, row, size - 1);
        recmap_parser_release(parser);
    }
    free(row);
    return 0;
}
