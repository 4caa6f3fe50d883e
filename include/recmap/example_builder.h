/* Building tf.Example and tf.SequenceExample from values, for recmap_writer_write.
 *
 *     recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
 *     recmap_example_builder_add_int64(builder, "label", &label, 1, &error);
 *     recmap_example_builder_finish(&data, &size, builder, &error);
 *     recmap_writer_write(writer, data, size, &error); */
#ifndef RECMAP_EXAMPLE_BUILDER_H
#define RECMAP_EXAMPLE_BUILDER_H

#include <recmap/columns.h>
#include <recmap/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum recmap_message {
    RECMAP_MESSAGE_EXAMPLE = 1,
    RECMAP_MESSAGE_SEQUENCE_EXAMPLE = 2,
} recmap_message;

/* Builds one record after another. Threads: a builder belongs to one thread at a time. */
typedef struct recmap_example_builder recmap_example_builder;

/* Creates a builder, which the caller destroys. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_example_builder_create(recmap_example_builder **builder, recmap_error *error);
/* NULL may be destroyed. */
RECMAP_API void recmap_example_builder_destroy(recmap_example_builder *builder);

/* Begins a record, and discards one that was begun and not finished. */
RECMAP_API void recmap_example_builder_begin(recmap_example_builder *builder,
                                             recmap_message message);

/* Adds a feature (of a SequenceExample: to its context) as a list of `count` values of that kind,
 * which are copied; 0 values make an empty list. Adding a name again replaces the feature. Errors
 * of all: INVALID for a name that is not UTF-8, for a record of more than 2 GiB, or if no record
 * was begun; NO_MEMORY. The record is then unchanged. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_example_builder_add_int64(recmap_example_builder *builder, const char *name,
                                 const int64_t *values, size_t count, recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_example_builder_add_float(recmap_example_builder *builder, const char *name,
                                 const float *values, size_t count, recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_example_builder_add_bytes(recmap_example_builder *builder, const char *name,
                                 const recmap_bytes *values, size_t count, recmap_error *error);
/* Adds a feature without a kind. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_builder_add_unset(
    recmap_example_builder *builder, const char *name, recmap_error *error);

/* Opens a feature list of a SequenceExample, creating it if necessary. Features that are added from
 * then on, with any name or NULL, are its next steps. recmap_example_builder_end_list returns to
 * the context. Errors: also INVALID in an Example or within a list. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_builder_begin_list(
    recmap_example_builder *builder, const char *name, recmap_error *error);
RECMAP_API void recmap_example_builder_end_list(recmap_example_builder *builder);

/* Finishes the record and returns its bytes: protobuf's deterministic serialisation, names sorted
 * by their bytes, numbers packed. (libprotobuf, and so every TensorFlow, writes the same. Python's
 * fast protobuf sorts in the same way, except that it puts a name after the names that start with
 * it.) The bytes are valid until the builder begins the next record or is destroyed. Errors:
 * INVALID if no record was begun; NO_MEMORY, and the record is not finished. Cost: one copy of the
 * record; once a record of that size was built, nothing is allocated. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_builder_finish(
    const uint8_t **data, size_t *size, recmap_example_builder *builder, recmap_error *error);

/* Reads one JSON object: protobuf's JSON mapping of tf.Example or tf.SequenceExample, or the form
 * that recmap_record_to_json writes for other records, {"number": N, "base64": "..."}, whose number
 * is optional and ignored. Returns the record's bytes as recmap_example_builder_finish does, or the
 * decoded base64. A record that was begun is discarded.
 *
 * As in protobuf, these are accepted: both spellings of fields (int64List, int64_list); null for a
 * missing field; numbers as numbers or in strings; "NaN", "Infinity", "-Infinity"; both alphabets
 * of base64, with or without padding. These are errors: an unknown field, a repeated field or name,
 * fields of several messages, and anything that is not strict JSON in UTF-8. The message is a
 * SequenceExample if a field of it is present ("context", "featureLists").
 *
 * Errors: INVALID, with the byte in the text as `offset`, for other text; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_builder_read_json(
    const uint8_t **data, size_t *size, recmap_example_builder *builder, const char *text,
    size_t text_size, recmap_error *error);

/* A warning about the JSON that was read last, or NULL: a number of a FloatList that 32 bits do not
 * hold closely, because it is beyond 2^24, where floats have no fractions and not every integer, or
 * becomes 0. The shortest decimal of a float, as recmap_record_to_json writes it, is none. A
 * builder warns of each feature once. It has the form of an error, with the byte in the text as
 * `offset`, and lives until the builder reads again or is destroyed. */
RECMAP_API const recmap_error *
recmap_example_builder_warning(const recmap_example_builder *builder);

#ifdef __cplusplus
}
#endif
#endif
