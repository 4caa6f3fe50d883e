/* tf.Example: what features records hold, and records as JSON. */
#ifndef RECMAP_EXAMPLE_H
#define RECMAP_EXAMPLE_H

#include <recmap/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The features found in records. */
typedef struct recmap_schema recmap_schema;

/* An empty schema. Errors: NO_MEMORY. */
RECMAP_API recmap_status recmap_schema_create(recmap_schema **schema, recmap_error *error);
RECMAP_API void recmap_schema_destroy(recmap_schema *schema);

/* Adds what one record holds. A record that is no tf.Example is counted as such; that is no error.
 * Errors: NO_MEMORY. */
RECMAP_API recmap_status recmap_schema_add(recmap_schema *schema, const void *data, size_t size,
                                           recmap_error *error);

/* Records added, and how many of them are no tf.Example. */
RECMAP_API uint64_t recmap_schema_record_count(const recmap_schema *schema);
RECMAP_API uint64_t recmap_schema_other_count(const recmap_schema *schema);

/* {name: {"kind": "int64" | "float" | "bytes" | "mixed" | "unset", "share": 0..1 of the records,
 * "min_length", "max_length": values a record}}, names sorted. Errors: NO_MEMORY. */
RECMAP_API recmap_status recmap_schema_to_json(recmap_text *text, const recmap_schema *schema,
                                               recmap_error *error);

/* One feature of the schema, names sorted. */
typedef struct recmap_schema_feature {
    const char *name;
    const char *kind;
    double share;
    uint64_t min_length;
    uint64_t max_length;
} recmap_schema_feature;
RECMAP_API size_t recmap_schema_feature_count(const recmap_schema *schema);
RECMAP_API recmap_schema_feature recmap_schema_get_feature(const recmap_schema *schema,
                                                           size_t feature_index);

/* Appends one record as one line of JSON, without a newline: protobuf's own JSON mapping of
 * tf.Example (base64 bytes, 64-bit integers as strings, keys sorted) when the record is one and
 * nothing would be lost, else {"number": N, "base64": "..."}. Errors: NO_MEMORY. */
RECMAP_API recmap_status recmap_record_to_json(recmap_text *text, const recmap_record *record,
                                               recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
