/* tf.Example: what features records hold, and records as JSON. */
#ifndef RECMAP_EXAMPLE_H
#define RECMAP_EXAMPLE_H

#include <recmap/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The features found in records. Threads: a schema belongs to one thread at a time. */
typedef struct recmap_schema recmap_schema;

/* An empty schema. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_schema_create(recmap_schema **schema,
                                                               recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_schema_destroy(recmap_schema *schema);

/* Adds what one record holds; nothing of it is kept. A record that is neither tf.Example nor
 * tf.SequenceExample is counted as such; that is no error. An empty record is an Example, of no
 * features. Errors: NO_MEMORY; the record is then not counted.
 * Cost: about 100 ns a feature and 10 ns a number. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_schema_add(recmap_schema *schema, const void *data,
                                                            size_t size, recmap_error *error);

/* Records added; how many of them are SequenceExamples that an Example would not hold; and how many
 * are neither, or hold more than that: fields that both do not know. Of the latter the known
 * features are counted. */
RECMAP_API uint64_t recmap_schema_record_count(const recmap_schema *schema);
RECMAP_API uint64_t recmap_schema_sequence_count(const recmap_schema *schema);
RECMAP_API uint64_t recmap_schema_other_count(const recmap_schema *schema);

/* Appends {name: {...}}, names sorted, with the members of recmap_schema_feature: "kind" ("int64",
 * "float", "bytes", "mixed", "unset"), "share", "min_length", "max_length", "unset_share",
 * "missing_share"; "shape", which is that of a FIXED_LEN feature ([] for one value, [N] for more),
 * or null where it can be none; and, where there are values of one kind, "min" and "max" of
 * numbers, "nan_count" of floats, "min_size" and "max_size" of bytes. A feature list is the member
 * "list" of its name, with the same members and "min_steps" and "max_steps"; a name that is that of
 * a list alone has no others. Errors: NO_MEMORY; the text is then as it was. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_schema_to_json(recmap_text *text,
                                                                const recmap_schema *schema,
                                                                recmap_error *error);

/* One feature of the schema: of Examples and of the contexts of SequenceExamples; or a feature list
 * of these. A record holds a feature when it has it with a kind: an empty list counts, a feature
 * that is there but unset does not. */
typedef struct recmap_schema_feature {
    const char *name; /* UTF-8, ended by a NUL; a name may hold NULs of its own before that.
                         Lives as long as the schema */
    size_t name_size; /* bytes of the name */
    const char *kind; /* "int64", "float", "bytes"; "mixed" where records or steps differ;
                         "unset" where none holds it. A static string */
    double share;     /* of all records that were added: those that hold it; that have the list */
    uint64_t min_length; /* number of values, over the records that hold it, or over the steps that
                            have a kind */
    uint64_t max_length;
    int is_list;  /* a feature list */
    int is_fixed; /* every record holds it in one kind with min_length values, and that is not 0: it
                     can be FIXED_LEN. Of a list: every step does; it can be FIXED_LEN_SEQUENCE */
    double unset_share;   /* of all records: those that have it without a kind. Of the steps of a
                             list: those without one */
    double missing_share; /* of all records: those that do not have it at all */
    uint64_t min_steps;   /* of a list, over the records that have it */
    uint64_t max_steps;
    /* Values by their kind, over all records, and between what they lie where there are any. */
    uint64_t int64_count;
    int64_t min_int64;
    int64_t max_int64;
    uint64_t float_count; /* without NaNs */
    uint64_t nan_count;
    float min_float;
    float max_float;
    uint64_t bytes_count;
    uint64_t min_size;
    uint64_t max_size;
} recmap_schema_feature;

/* How many features and feature lists were found, and number `feature_index` (below that count) of
 * them: features first, then lists, each sorted by the bytes of their names. */
RECMAP_API size_t recmap_schema_feature_count(const recmap_schema *schema);
RECMAP_API recmap_schema_feature recmap_schema_get_feature(const recmap_schema *schema,
                                                           size_t feature_index);

/* Appends one record as one line of JSON, without a newline: protobuf's own JSON mapping of
 * tf.Example when the record is one and nothing would be lost, else that of tf.SequenceExample if
 * so, else {"number": N, "base64": "..."}. recmap_example_builder_read_json reads it back.
 *
 * The mapping is that of Python's json_format.MessageToJson: bytes in base64, 64-bit integers as
 * strings, floats with the fewest digits that read back, "NaN", "Infinity"; names sorted. An unset
 * feature is {}, a list of no values {"int64List":{}}, and an empty record, which is an Example of
 * no features, {}. Reading the JSON back gives a message equal to the record's. So a record with
 * fields that neither message has, or with a NaN other than 0x7fc00000, comes in base64.
 * Errors: NO_MEMORY; the text is then as it was. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_record_to_json(recmap_text *text,
                                                                const recmap_record *record,
                                                                recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
