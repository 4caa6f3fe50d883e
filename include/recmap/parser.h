/* A parser: features compiled once, then batches of records read straight into columns.
 *
 *     recmap_feature features[] = {
 *         {.name = "label", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64},
 *         {.name = "words", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT64}};
 *     recmap_parser_create(&parser, features, 2, &error);
 *     recmap_parser_parse(columns, parser, recmap_batch_records(batch), recmap_batch_count(batch),
 *                         RECMAP_PARSE_RAISE, &error);
 *
 * What counts is what libprotobuf makes of the bytes, where TensorFlow's own parser differs: of
 * several features with one name the last one counts, lists in pieces are put together, what is
 * unknown is passed over. What no feature asks for is passed over by its length and not looked
 * into. */
#ifndef RECMAP_PARSER_H
#define RECMAP_PARSER_H

#include <recmap/columns.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Never changes once it is made. Threads: any number may use it. Fork: a child may use it. */
typedef struct recmap_parser recmap_parser;

/* A parser of tf.Example. Everything is copied.
 * Errors: INVALID, naming the feature, for one that cannot be: no name, two of one name, a name
 * that is not UTF-8, a shape with a 0, a default of another type or count, a partition without its
 * key, more than 2^31 elements a record; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_parser_create(recmap_parser **parser,
                                                               const recmap_feature *features,
                                                               size_t count, recmap_error *error);

/* A parser of tf.SequenceExample: features of its context, and of its feature lists, whose names
 * may be those of context features. In a feature list FIXED_LEN_SEQUENCE takes a step from each
 * feature of the list, VAR_LEN makes rows of steps of values. Other kinds are INVALID there. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_parser_create_sequence(
    recmap_parser **parser, const recmap_feature *context, size_t context_count,
    const recmap_feature *lists, size_t list_count, recmap_error *error);

/* The row that a function of yours fills. */
typedef struct recmap_row recmap_row;

/* Reads one record: sets columns of the row, each to the values of this record. What is not set is
 * missing, as a feature that a tf.Example lacks: it takes the feature's default, or is an error.
 * Returns RECMAP_OK, or what one of the functions below returned. It is called on any thread, and
 * by several at once. */
typedef recmap_status (*recmap_parse_fn)(recmap_row *row, const recmap_record *record,
                                         void *context);

/* A parser of records of any other kind, by a function of yours. Kinds of features are FIXED_LEN,
 * VAR_LEN and FIXED_LEN_SEQUENCE, without `key` and `raw`; all that follows the parser (batches,
 * columns, loader, Arrow) is as with tf.Example.
 * Errors: as recmap_parser_create; INVALID for other kinds. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_parser_create_custom(recmap_parser **parser, const recmap_feature *features, size_t count,
                            recmap_parse_fn parse, void *context, recmap_error *error);

/* Set column `column`, counted as the features were, to `count` values, which the element converts
 * as those of a tf.Example: int64 for integers and BOOL, float for floats. Bytes are not copied
 * here: they must live as long as the record does, best within it; each value has less than 2 GiB.
 * Setting a column again replaces its values. Errors: FEATURE when their type, number or value is
 * not what the feature asks for. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_row_set_int64(recmap_row *row, size_t column,
                                                               const int64_t *values, size_t count);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_row_set_float(recmap_row *row, size_t column,
                                                               const float *values, size_t count);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_row_set_bytes(recmap_row *row, size_t column,
                                                               const recmap_bytes *values,
                                                               size_t count);

/* Says that the record is bad, at byte `offset` of it (or RECMAP_NO_OFFSET), and why: one line.
 * Returns RECMAP_CORRUPT. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_row_fail(recmap_row *row, uint64_t offset,
                                                          const char *message);

/* Makes `parser` one more user's; returns it. Each destroys it once. */
RECMAP_API recmap_parser *recmap_parser_retain(recmap_parser *parser);
RECMAP_API void recmap_parser_release(recmap_parser *parser);

/* How many columns it makes; of SequenceExample, of how many of them the context is. */
RECMAP_API size_t recmap_parser_column_count(const recmap_parser *parser);
RECMAP_API size_t recmap_parser_context_count(const recmap_parser *parser);

/* What a record that cannot be read does. */
typedef enum recmap_parse_mode {
    RECMAP_PARSE_RAISE = 0,   /* it is the error of the whole batch */
    RECMAP_PARSE_COLLECT = 1, /* its row is null in every column, and a failure of the columns */
} recmap_parse_mode;

/* Parses the records into `columns`, whose rows are then the records in the order given. Views in
 * the columns lead into the records' bytes.
 * Errors: CORRUPT for a record that is no tf.Example and FEATURE for one whose features are not as
 * asked, both with the number of the record and, as `offset`, the byte in it, and the feature's
 * name in the message; NO_MEMORY. The columns are then empty.
 * Cost: docs/benchmarks.md; about 60 to 150 ns for a record of 14 small features, 65 for one of
 * 50 KB whose bytes are viewed. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_parser_parse(
    recmap_columns *columns, const recmap_parser *parser, const recmap_record *records,
    size_t record_count, recmap_parse_mode mode, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
