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
RECMAP_API recmap_status recmap_schema_create(recmap_schema **schema, recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_schema_destroy(recmap_schema *schema);

/* Adds what one record holds; nothing of it is kept. A record that is no tf.Example is counted as
 * such; that is no error. An empty record is an Example, of no features.
 * Errors: NO_MEMORY; the record is then not counted.
 * Cost: about 100 ns a feature. */
RECMAP_API recmap_status recmap_schema_add(recmap_schema *schema, const void *data, size_t size,
                                           recmap_error *error);

/* Records added, and how many of them are no tf.Example or hold more than one, as a SequenceExample
 * does: fields that tf.Example does not know. Of the latter the known features are counted. */
RECMAP_API uint64_t recmap_schema_record_count(const recmap_schema *schema);
RECMAP_API uint64_t recmap_schema_other_count(const recmap_schema *schema);

/* Appends {name: {"kind": "int64" | "float" | "bytes" | "mixed" | "unset", "share": 0..1,
 * "min_length", "max_length"}}, names sorted. Kind, share and lengths are those of
 * recmap_schema_feature. Errors: NO_MEMORY; the text is then as it was. */
RECMAP_API recmap_status recmap_schema_to_json(recmap_text *text, const recmap_schema *schema,
                                               recmap_error *error);

/* One feature of the schema. A record holds it when it has it with a kind: an empty list counts, a
 * feature that is there but unset does not. */
typedef struct recmap_schema_feature {
    const char *name;    /* UTF-8, ended by a NUL; a name may hold NULs of its own before that.
                            Lives as long as the schema */
    size_t name_size;    /* bytes of the name */
    const char *kind;    /* "int64", "float", "bytes"; "mixed" where records differ; "unset" where
                            no record holds it. A static string */
    double share;        /* of all records that were added: those that hold it */
    uint64_t min_length; /* number of values, over the records that hold it */
    uint64_t max_length;
} recmap_schema_feature;

/* How many features were found, and feature `feature_index` (below that count) of them, sorted by
 * the bytes of their names. */
RECMAP_API size_t recmap_schema_feature_count(const recmap_schema *schema);
RECMAP_API recmap_schema_feature recmap_schema_get_feature(const recmap_schema *schema,
                                                           size_t feature_index);

/* Appends one record as one line of JSON, without a newline: protobuf's own JSON mapping of
 * tf.Example when the record is one and nothing would be lost, else {"number": N, "base64": "..."}.
 *
 * The mapping is that of Python's json_format.MessageToJson: bytes in base64, 64-bit integers as
 * strings, floats with the fewest digits that read back, "NaN", "Infinity"; names sorted. An unset
 * feature is {}, a list of no values {"int64List":{}}, and an empty record, which is an Example of
 * no features, {}. Reading the JSON back gives an Example equal to the record's. So a record with
 * fields that tf.Example does not have (a SequenceExample, or another message), or with a NaN other
 * than 0x7fc00000, comes in base64.
 * Errors: NO_MEMORY; the text is then as it was. */
RECMAP_API recmap_status recmap_record_to_json(recmap_text *text, const recmap_record *record,
                                               recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
