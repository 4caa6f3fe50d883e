/* Building tf.Example and tf.SequenceExample out of values, for recmap_writer_write.
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

/* Used again from record to record. Threads: a builder belongs to one thread at a time. */
typedef struct recmap_example_builder recmap_example_builder;

/* Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_example_builder_create(recmap_example_builder **builder, recmap_error *error);
/* NULL may be destroyed. */
RECMAP_API void recmap_example_builder_destroy(recmap_example_builder *builder);

/* Begins a record; what was begun before is dropped. */
RECMAP_API void recmap_example_builder_begin(recmap_example_builder *builder,
                                             recmap_message message);

/* Adds a feature (of a SequenceExample: of its context): `count` values, which are copied, as a
 * list of that kind; none make an empty list. A name that was added already is replaced. Errors of
 * all: INVALID for a name that is not UTF-8, for a record of more than 2 GiB, or when none was
 * begun; NO_MEMORY. The record is then as it was. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_example_builder_add_int64(recmap_example_builder *builder, const char *name,
                                 const int64_t *values, size_t count, recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_example_builder_add_float(recmap_example_builder *builder, const char *name,
                                 const float *values, size_t count, recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_example_builder_add_bytes(recmap_example_builder *builder, const char *name,
                                 const recmap_bytes *values, size_t count, recmap_error *error);
/* A feature that is there with no kind. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_builder_add_unset(
    recmap_example_builder *builder, const char *name, recmap_error *error);

/* Opens a feature list of a SequenceExample, empty unless it is there already: what is added from
 * then on, with any name or NULL, is its next step. recmap_example_builder_end_list goes back to
 * the context. Errors: also INVALID in an Example or within a list. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_builder_begin_list(
    recmap_example_builder *builder, const char *name, recmap_error *error);
RECMAP_API void recmap_example_builder_end_list(recmap_example_builder *builder);

/* The record, which ends with that: protobuf's deterministic serialisation, names sorted by their
 * bytes, numbers packed. (So libprotobuf writes it, and every TensorFlow. Python's fast protobuf
 * sorts alike, but puts a name behind those that it begins.) The bytes live until the builder
 * begins the next or is destroyed. Errors: INVALID when none was begun; NO_MEMORY, and the record
 * is not ended. Cost: one copy of the record; nothing is allocated once a record as large was made.
 */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_builder_finish(
    const uint8_t **data, size_t *size, recmap_example_builder *builder, recmap_error *error);

/* Reads one JSON object, protobuf's JSON mapping of tf.Example or tf.SequenceExample, or what
 * recmap_record_to_json writes for other records: {"number": N, "base64": "..."}, of which the
 * number may be left out and is not used. Gives the record's bytes as recmap_example_builder_finish
 * does, or those of the base64. What was begun is dropped.
 *
 * As in protobuf: fields in both spellings (int64List, int64_list); null for a field that is not
 * there; numbers as numbers or in strings; "NaN", "Infinity", "-Infinity"; both alphabets of
 * base64, with or without padding. A field that is unknown, a field or a name that comes twice,
 * fields of several messages, and whatever is no strict JSON in UTF-8 are errors. Which message it
 * is: a SequenceExample when a field of it is there ("context", "featureLists").
 *
 * Errors: INVALID, with the byte in the text as `offset`, for what is no such JSON; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_builder_read_json(
    const uint8_t **data, size_t *size, recmap_example_builder *builder, const char *text,
    size_t text_size, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
