/* Records and columns as short texts, for tests of parsing.
 *
 * A record is its features, one space between them: a kind and values, or ? for one that is unset.
 *
 *     age=i:3,4 score=f:1.5,-2 name=b:ann,bob empty=i: unset=?
 *
 * The feature lists of a SequenceExample follow after " | ", one step after the other:
 *
 *     age=i:3 | words=[i:1,2][i:][?] none=
 *
 * A column is its rows as Python writes nested lists (bytes bare), ~ before one that is null; then
 * what the kind has beside values: `lengths`, `indices`, `shape`. */
#ifndef RECMAP_TESTS_UNIT_PARSE_COLUMNS_PARSE_TEXT_H
#define RECMAP_TESTS_UNIT_PARSE_COLUMNS_PARSE_TEXT_H

#include <recmap/parser.h>

#include "unit/parse/example/build.h"

/* Appends the bytes of the record; `is_sequence` for a SequenceExample. */
void put_record(struct message *message, const char *text, int is_sequence);

/* Describes a column, when all that Arrow's layout promises holds of it; else says "BROKEN: ...".
 * The text lives until the next call but three. */
const char *describe_column(const recmap_column *column);

enum { BATCH_MAX = 300 };

/* Records made of texts, each in memory of exactly its size. */
struct text_batch {
    recmap_record records[BATCH_MAX];
    size_t count;
};

void batch_add(struct text_batch *batch, const char *text, int is_sequence);
void text_batch_deinit(struct text_batch *batch);

/* A parser and columns that end with it. */
struct parsing {
    recmap_parser *parser;
    recmap_columns *columns;
    recmap_error error;
};

/* Parses records given as texts, the last NULL; `features` are those of an Example. Fails the test
 * if it cannot continue. Returns the status of the parse. */
recmap_status parse_texts(struct parsing *parsing, const recmap_feature *features, size_t count,
                          recmap_parse_mode mode, const char *const *texts,
                          struct text_batch *batch);
recmap_status parse_sequences(struct parsing *parsing, const recmap_feature *context,
                              size_t context_count, const recmap_feature *lists, size_t list_count,
                              recmap_parse_mode mode, const char *const *texts,
                              struct text_batch *batch);
void parsing_deinit(struct parsing *parsing);

/* Fails the test unless the column is there and as described. */
void expect_column(const struct parsing *parsing, const char *name, const char *expected);

#endif
