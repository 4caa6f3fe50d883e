/* Any bytes as a line of JSON, parsed into columns of every kind. What is read without dots in the
 * keys and what is read with them, by other code, agree. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/table.h>

#include "fuzz/fuzz.h"

static void check(bool holds) {
    if (!holds) abort();
}

static const uint64_t square[] = {2, 2};
static const recmap_value minus_one = {.type = RECMAP_TYPE_INT64, .as.int64 = -1};
static const recmap_value minus_half = {.type = RECMAP_TYPE_FLOAT, .as.float32 = -0.5f};
static const recmap_value nothing = {.type = RECMAP_TYPE_BYTES};

/* The first three have no dots, and are all that a parser of plain keys reads. */
static const recmap_feature features[] = {
    {.name = "a",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_INT64,
     .defaults = &minus_one,
     .default_count = 1},
    {.name = "b",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_BYTES,
     .defaults = &nothing,
     .default_count = 1},
    {.name = "c", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_FLOAT32},
    {.name = "features.feature",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_FLOAT64,
     .shape = square,
     .dimension_count = 2,
     .defaults = &minus_half,
     .default_count = 1},
    {.name = "d.e.f", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_BYTES},
};

enum { PLAIN = 3, ALL = sizeof features / sizeof *features };

static recmap_status parse(recmap_columns *columns, size_t count, const uint8_t *data,
                           size_t size) {
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record = {data, size, 7, NULL};
    check(recmap_parser_create_json(&parser, features, count, &error) == RECMAP_OK);
    recmap_status status =
        recmap_parser_parse(columns, parser, &record, 1, RECMAP_PARSE_RAISE, &error);
    check(status == RECMAP_OK || ((status == RECMAP_CORRUPT || status == RECMAP_FEATURE) &&
                                  error.record == 7 && error.message[0]));
    check(status == RECMAP_OK || error.offset == RECMAP_NO_OFFSET || error.offset <= size);
    recmap_parser_release(parser);
    return status;
}

static void check_same(const recmap_columns *one, const recmap_columns *other) {
    const int64_t *a = recmap_columns_get(one, 0)->values;
    const int64_t *b = recmap_columns_get(other, 0)->values;
    check(a[0] == b[0]);
    const recmap_bytes *text = recmap_columns_get(one, 1)->views;
    const recmap_bytes *same = recmap_columns_get(other, 1)->views;
    check(text->size == same->size && !memcmp(text->data, same->data, text->size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    recmap_columns *plain = NULL, *all = NULL;
    uint8_t *line = malloc(size + 1);
    check(line && recmap_columns_create(&plain, NULL) == RECMAP_OK &&
          recmap_columns_create(&all, NULL) == RECMAP_OK);
    if (size) memcpy(line, data, size);
    recmap_status with_all = parse(all, ALL, line, size);
    recmap_status with_plain = parse(plain, PLAIN, line, size);
    /* The names within objects are read, and must be UTF-8, only if a key leads there. */
    if (with_all == RECMAP_OK) {
        check(with_plain == RECMAP_OK);
        check_same(plain, all);
    }
    recmap_columns_destroy(plain);
    recmap_columns_destroy(all);
    free(line);
    return 0;
}
