/* The parser, columns and error of a test of columns, and how they are freed. */
#ifndef RECMAP_TESTS_UNIT_PARSE_COLUMNS_PARSE_CASE_H
#define RECMAP_TESTS_UNIT_PARSE_COLUMNS_PARSE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/parse/columns/parse_specs.h"
#include "unit/parse/columns/parse_text.h"

static struct parsing parsing;
static struct text_batch batch;

/* Parses records given as texts; `mode` is RAISE or COLLECT. */
#define PARSE(features, mode, ...)                                                                 \
    parse_texts(&parsing, features, COUNT(features), RECMAP_PARSE_##mode, TEXTS(__VA_ARGS__),      \
                &batch)

/* Parses one record with the test's parser. */
static inline recmap_status parse_record(const recmap_record *record) {
    return recmap_parser_parse(parsing.columns, parsing.parser, record, 1, RECMAP_PARSE_RAISE,
                               &parsing.error);
}

static int end(void **state) {
    (void)state;
    parsing_deinit(&parsing);
    parsing = (struct parsing){0};
    text_batch_deinit(&batch);
    return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

#endif
