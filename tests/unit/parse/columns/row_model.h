/* The values that a row of a sink must hold, derived from a simple reading of the whole record. */
#ifndef RECMAP_TESTS_UNIT_PARSE_COLUMNS_ROW_MODEL_H
#define RECMAP_TESTS_UNIT_PARSE_COLUMNS_ROW_MODEL_H

#include "parse/example/example.h"
#include "parse/plan/slot.h"

enum row_verdict {
    ROW_AS_EXPECTED,
    ROW_DIFFERS,
    ROW_IS_A_FAULT, /* the record does not have what the slot asks for */
};

/* Compares row `row` of the sink, unless `held` is NULL. */
enum row_verdict row_check(const struct sink *held, const struct slot *slot,
                           const struct example_features *features, size_t row);

/* Returns true if both sinks hold the same in all rows. */
bool rows_are_equal(const struct sink *a, const struct sink *b, const struct slot *slot,
                    size_t row_count);

#endif
