/* Records that are protobuf messages of any type: their fields as columns, ids and JSON.
 *
 *     recmap_message_type_create(&type, bytes, size, "waymo.open_dataset.Scenario", &error);
 *     recmap_feature features[] = {
 *         {.name = "id", .key = "scenario_id", .kind = RECMAP_FEATURE_FIXED_LEN,
 *          .element = RECMAP_ELEMENT_BYTES},
 *         {.name = "x", .key = "tracks.states.center_x", .kind = RECMAP_FEATURE_VAR_LEN,
 *          .element = RECMAP_ELEMENT_FLOAT64}};
 *     recmap_parser_create_message(&parser, type, features, 2, &error);
 *
 * A path names a field by the names of the fields that lead to it, or by their numbers, with dots
 * between them: "tracks.states.center_x" or "2.3.2". The entries of a map have the fields `key` and
 * `value`. Values are those that protobuf reads: the last of several values of a field that is not
 * repeated counts, submessages that are there several times are merged, of a oneof only the last
 * member counts, and an absent field has its default. Fields that no path names are skipped by
 * their length and not examined. */
#ifndef RECMAP_MESSAGE_H
#define RECMAP_MESSAGE_H

#include <recmap/feature.h>
#include <recmap/parser.h>
#include <recmap/record.h>
#include <recmap/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A type of messages. Immutable, with a reference count: release each type that you create or
 * retain once. Threads: any number may use it. Fork: a child may use it. */
typedef struct recmap_message_type recmap_message_type;

/* Creates the type `name` of a descriptor set: the bytes of a google.protobuf.FileDescriptorSet, as
 * `protoc --include_imports --descriptor_set_out=FILE` writes it. `name` is the full name of the
 * message type, or its last part, if only one type of the set has it. Nothing of the bytes is
 * needed afterwards. NULL bytes and NULL `name`: a type that is not known, whose paths consist of
 * numbers.
 *
 * Errors: INVALID if the bytes are not a descriptor set, one of the files is not in it or imports
 * itself, or a type is missing, each named in the message; if there is no such type, with the
 * nearest name as advice; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_message_type_create(recmap_message_type **type,
                                                                     const void *descriptor_set,
                                                                     size_t size, const char *name,
                                                                     recmap_error *error);

/* Adds a reference and returns `type`. recmap_message_type_release drops one; the last one frees
 * the type. NULL may be released. */
RECMAP_API recmap_message_type *recmap_message_type_retain(recmap_message_type *type);
RECMAP_API void recmap_message_type_release(recmap_message_type *type);

/* The full name of the type; "" if it is not known. */
RECMAP_API const char *recmap_message_type_name(const recmap_message_type *type);

/* A field that a path leads to. */
typedef struct recmap_message_field {
    const char *kind;       /* as in a .proto file: "int32", "double", "string", "bytes", "enum",
                               "message", ... A static string */
    recmap_element element; /* that holds all its values: INT32 for an enum, BYTES for a string;
                               NONE for a message */
    size_t levels;          /* how many fields of the path are repeated: 0 for one value */
    uint64_t reserved[4];   /* 0; room for later versions */
} recmap_message_field;

/* Finds the field of a path; the type must be known. Errors: INVALID if there is no such field,
 * with the nearest name as advice. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_message_type_find(recmap_message_field *field,
                                                                   const recmap_message_type *type,
                                                                   const char *path,
                                                                   recmap_error *error);

/* Receives one field. `path` and `field` are valid only during the call. A status other than
 * RECMAP_OK stops recmap_message_type_visit, which returns it. */
typedef recmap_status (*recmap_message_visit_fn)(const char *path,
                                                 const recmap_message_field *field, void *context);

/* Passes all fields that are not messages to `visit`, in the order of their numbers. Submessages of
 * a type that contains itself are passed once. At most 10,000 fields. Errors: INVALID if the type
 * is not known; NO_MEMORY; any status of `visit`. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_message_type_visit(recmap_message_visit_fn visit,
                                                                    void *context,
                                                                    const recmap_message_type *type,
                                                                    recmap_error *error);

/* Appends the same as JSON: [{"path", "kind", "levels"}, ...]. Errors: as above; the text is then
 * unchanged. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_message_type_to_json(
    recmap_text *text, const recmap_message_type *type, recmap_error *error);

/* Creates a parser of messages. The `key` of a feature (NULL: its name) is the path of its values.
 * Kinds of features:
 *
 * - FIXED_LEN: the value of a field that is not repeated; if it is absent, the feature's default,
 * or without one the field's. With a shape: the values of a path with one repeated field, as many
 * as the shape holds, or of a path with a repeated field for each dimension, each as often as the
 *   dimension says. If the record has none of them: the feature's default, or without one an error.
 * - VAR_LEN: all values of a path with repeated fields, with one level of rows for each of them: a
 *   path with several gives a RAGGED column. The value of a field that is not repeated, or none if
 *   the record does not contain the field.
 * - FIXED_LEN_SEQUENCE: the values of a path with one repeated field, or with one for the steps and
 *   one for each dimension.
 * - RAGGED, SPARSE, BOXES: as for tf.Example; their keys are paths with at most one repeated field.
 *   A key that ends in # is the number of elements of that repeated field, one for each element of
 *   the repeated field that contains it.
 * - IMAGE, and features with `raw`: a bytes field that is not repeated.
 *
 * Elements: any integer type, and BOOL, for integers, bools and enums; any floating-point type for
 * float and double; BYTES for strings and bytes. Values that the element cannot hold are an error
 * of the record. A map has its entries in the order of the record.
 *
 * Without a known type, the element says what the field holds: integers are varints or fixed
 * numbers (not zigzag-encoded), and packed floating-point numbers are doubles for FLOAT64, else
 * floats. FIXED_LEN without a shape reads the last value of a path, all other features read all
 * values in one level. A value that its writer left out because it is the default is then missing.
 *
 * Errors: as recmap_parser_create; INVALID, naming the feature, for a path that the type does not
 * have or that does not fit the feature, and for SLICED. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_parser_create_message(recmap_parser **parser, recmap_message_type *type,
                             const recmap_feature *features, size_t count, recmap_error *error);

/* Appends one record as one line of JSON, without a newline: protobuf's JSON mapping of the
 * message, with bytes in base64, 64-bit integers as strings and enums by name. Fields that the type
 * does not have are left out, and well-known types are written as their fields. A record that is
 * not such a message, or that nests deeper than 100 levels, is written as {"number": N, "base64":
 * "..."}. Errors: INVALID if the type is not known; NO_MEMORY; the text is then unchanged. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_message_to_json(recmap_text *text,
                                                                 const recmap_message_type *type,
                                                                 const recmap_record *record,
                                                                 recmap_error *error);

/* Ids and lifted columns of messages, for the options of an index and of a data set:
 *
 *     recmap_feature id = {.name = "id", .key = "scenario_id", .kind = RECMAP_FEATURE_FIXED_LEN,
 *                          .element = RECMAP_ELEMENT_BYTES};
 *     recmap_message_lift_create(&lift, type, &id, NULL, 0, &error);
 *     options.id_feature = recmap_message_lift_id_name(lift);
 *     options.lift = recmap_message_lift_read;
 *     options.lift_context = lift;
 *
 * Immutable: any number of threads may read with it, and a child may use it. */
typedef struct recmap_message_lift recmap_message_lift;

/* Creates it for the id (NULL: no ids), whose element is BYTES or an integer type, and for columns,
 * in the order of recmap_index_options.lifts. Each is FIXED_LEN without a shape, of a path without
 * repeated fields. Columns of all integer types become int64, and those of FLOAT64 float64. An id
 * that is absent or empty is missing; an absent column has its own default, or else the
 * default of the field.
 * Errors: as recmap_parser_create_message; INVALID for an id or a column of another kind. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_message_lift_create(
    recmap_message_lift **lift, recmap_message_type *type, const recmap_feature *id,
    const recmap_feature *columns, size_t column_count, recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_message_lift_destroy(recmap_message_lift *lift);

/* The name that an index gives these ids: "TYPE:PATH", or ":PATH" if the type is not known. NULL
 * without ids. */
RECMAP_API const char *recmap_message_lift_id_name(const recmap_message_lift *lift);

/* The recmap_lift_fn; `context` is a recmap_message_lift. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_message_lift_read(
    const recmap_record *record, recmap_value *id, recmap_value *columns, size_t column_count,
    char *message, size_t message_capacity, void *context);

#ifdef __cplusplus
}
#endif
#endif
