/* The parser of records into columns against protobuf-c, and, where protobuf-c departs from
 * libprotobuf (the list is in against.h), against our own reader of whole Examples. */
#ifndef RECMAP_TESTS_UNIT_PARSE_COLUMNS_PARSE_AGAINST_H
#define RECMAP_TESTS_UNIT_PARSE_COLUMNS_PARSE_AGAINST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

#include "unit/parse/columns/asked_features.h"

/* A parser that asks for them, and the record that it parses among others in a batch. */
struct parse_check;
struct parse_check *parse_check_create(const struct asked_features *request, const uint8_t *data,
                                       size_t size);
void parse_check_destroy(struct parse_check *check);

/* What becomes of checked records. */
struct parse_tally {
    unsigned parsed;
    unsigned compared; /* parsed, and each value compared with protobuf-c's */
    unsigned refused;
};

/* NULL when the record gives the columns that it must give, or an error that it must give and that
 * says where; and spoils nothing of the records beside it. Else what is wrong. */
const char *parse_check_run(struct parse_check *check, struct parse_tally *tally,
                            const uint8_t *data, size_t size);

/* The same with a parser that asks for what the record itself seems to hold. */
const char *find_parse_difference(struct parse_tally *tally, const uint8_t *data, size_t size,
                                  unsigned leave_out);

#endif
