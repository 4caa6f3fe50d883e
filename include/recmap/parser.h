/* A parser: features compiled once, to read batches of records straight into columns.
 *
 *     recmap_feature features[] = {
 *         {.name = "label", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64},
 *         {.name = "words", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT64}};
 *     recmap_parser_create(&parser, features, 2, &error);
 *     recmap_parser_parse(columns, parser, recmap_batch_records(batch), recmap_batch_count(batch),
 *                         RECMAP_PARSE_RAISE, &error);
 *
 * Values match protobuf's parser where TensorFlow's own parser differs: of several features with
 * the same name the last one counts, lists in several pieces are joined, and unknown fields are
 * skipped. Features that were not requested are skipped by their length and not examined. */
#ifndef RECMAP_PARSER_H
#define RECMAP_PARSER_H

#include <recmap/columns.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable, with a reference count: release each parser that you create or retain once. Threads:
 * any number may use it. Fork: a child may use it. */
typedef struct recmap_parser recmap_parser;

/* Creates a parser of tf.Example. Everything is copied. Errors: INVALID, naming the feature, for an
 * impossible feature: no name, two with the same name, a name that is not UTF-8, a shape with a 0,
 * a default of another type or count, a partition without its key, more than 2^31 elements per
 * record; UNSUPPORTED for an image without decoders in a build without image libraries;
 * NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_parser_create(recmap_parser **parser,
                                                               const recmap_feature *features,
                                                               size_t count, recmap_error *error);

/* Creates a parser of tf.SequenceExample: features of its context, and features of its feature
 * lists, which may have the same names. In a feature list, FIXED_LEN_SEQUENCE reads a step from
 * each feature of the list, and VAR_LEN makes rows of steps of values. Other kinds are INVALID
 * there. Errors: as recmap_parser_create. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_parser_create_sequence(
    recmap_parser **parser, const recmap_feature *context, size_t context_count,
    const recmap_feature *lists, size_t list_count, recmap_error *error);

/* The row that a custom parse function fills. */
typedef struct recmap_row recmap_row;

/* Parses one record: sets columns of the row to the values of this record. A column that is not set
 * is missing, like a feature that a tf.Example lacks: it takes the feature's default, or is an
 * error. Returns RECMAP_OK, or the status that one of the functions below returned. Threads: called
 * on any thread, and on several at once. */
typedef recmap_status (*recmap_parse_fn)(recmap_row *row, const recmap_record *record,
                                         void *context);

/* Creates a parser of records of any other format, by a custom function. Features may be of kind
 * FIXED_LEN, VAR_LEN and FIXED_LEN_SEQUENCE, without `key` and `raw`. Batches, columns, loaders and
 * Arrow exports work as for tf.Example. Errors: as recmap_parser_create; INVALID for other kinds.
 */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_parser_create_custom(recmap_parser **parser, const recmap_feature *features, size_t count,
                            recmap_parse_fn parse, void *context, recmap_error *error);

/* Set column `column`, in the order of the features, to `count` values, which are converted to the
 * element type as in a tf.Example: int64 for integers and BOOL, float for floats. Bytes are not
 * copied here: they must live as long as the record, so preferably point into it; each value has
 * less than 2 GiB. Setting a column again replaces its values. Errors: FEATURE if their type,
 * number or values are not what the feature requires. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_row_set_int64(recmap_row *row, size_t column,
                                                               const int64_t *values, size_t count);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_row_set_float(recmap_row *row, size_t column,
                                                               const float *values, size_t count);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_row_set_bytes(recmap_row *row, size_t column,
                                                               const recmap_bytes *values,
                                                               size_t count);

/* Reports the record as bad, at byte `offset` of it (or RECMAP_NO_OFFSET), with a reason of one
 * line. Returns RECMAP_CORRUPT. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_row_fail(recmap_row *row, uint64_t offset,
                                                          const char *message);

/* Adds a reference and returns `parser`. recmap_parser_release drops one; the last one frees the
 * parser. NULL may be released. */
RECMAP_API recmap_parser *recmap_parser_retain(recmap_parser *parser);
RECMAP_API void recmap_parser_release(recmap_parser *parser);

/* The number of columns, and for SequenceExample how many of them belong to the context. */
RECMAP_API size_t recmap_parser_column_count(const recmap_parser *parser);
RECMAP_API size_t recmap_parser_context_count(const recmap_parser *parser);

/* What happens if a record cannot be parsed. */
typedef enum recmap_parse_mode {
    RECMAP_PARSE_RAISE = 0,   /* the whole batch fails with its error */
    RECMAP_PARSE_COLLECT = 1, /* its row is null in every column, and listed as a failure */
} recmap_parse_mode;

/* Parses the records into `columns`, with one row per record in the order given. Views in the
 * columns point into the records' bytes.
 *
 * Errors: CORRUPT for a record that is not a tf.Example, and FEATURE for one whose features are not
 * as specified, both with the number of the record, the byte in it as `offset`, and the feature's
 * name in the message; NO_MEMORY. The columns are then empty.
 *
 * Cost: about 60 to 150 ns for a record of 14 small features, 65 ns for one of 50 KB whose bytes
 * are viewed; see docs/reference/benchmarks.md. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_parser_parse(
    recmap_columns *columns, const recmap_parser *parser, const recmap_record *records,
    size_t record_count, recmap_parse_mode mode, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
