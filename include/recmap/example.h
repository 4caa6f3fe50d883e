/* tf.Example: which features records contain, and records as JSON. */
#ifndef RECMAP_EXAMPLE_H
#define RECMAP_EXAMPLE_H

#include <recmap/columns.h>
#include <recmap/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The features found in records. Threads: a schema belongs to one thread at a time. */
typedef struct recmap_schema recmap_schema;

/* Creates an empty schema, which the caller destroys. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_schema_create(recmap_schema **schema,
                                                               recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_schema_destroy(recmap_schema *schema);

/* Adds the features of one record and keeps nothing of it. A record that is neither tf.Example nor
 * tf.SequenceExample is counted as such and is not an error. An empty record is an Example without
 * features. Errors: NO_MEMORY; the record is then not counted. Cost: about 100 ns per feature and
 * 10 ns per number. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_schema_add(recmap_schema *schema, const void *data,
                                                            size_t size, recmap_error *error);

/* The number of records added; the number of those that are SequenceExamples and not Examples; and
 * the number of those that are neither, or have fields that neither message defines. The known
 * features of the latter are counted. */
RECMAP_API uint64_t recmap_schema_record_count(const recmap_schema *schema);
RECMAP_API uint64_t recmap_schema_sequence_count(const recmap_schema *schema);
RECMAP_API uint64_t recmap_schema_other_count(const recmap_schema *schema);

/* Appends {name: {...}}, sorted by name, with the members of recmap_schema_feature: "kind"
 * ("int64", "float", "bytes", "mixed", "unset"), "share", "min_length", "max_length",
 * "unset_share", "missing_share"; "shape", as a FIXED_LEN feature takes it ([] for one value, [N]
 * for more), or null if it cannot be FIXED_LEN; and, if there are values of one kind, "min" and
 * "max" of numbers, "nan_count" of floats, "min_size" and "max_size" of bytes. If some bytes are
 * pictures: "image_share", their fraction, "image_height" and "image_width", which most of them
 * have, "image_bits", 16 if one is gray with 16 bits, else 8, and "image_turned_share", the
 * fraction of the pictures that EXIF turns. A feature list is the member "list" of its name, with
 * the same members plus "min_steps" and "max_steps"; a name that only a list has contains no other
 * members. Errors: NO_MEMORY; the text is then unchanged. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_schema_to_json(recmap_text *text,
                                                                const recmap_schema *schema,
                                                                recmap_error *error);

/* One feature of the schema, from Examples and the contexts of SequenceExamples, or one feature
 * list of SequenceExamples. A record *holds* a feature if the feature is present with a kind: an
 * empty list counts, an unset feature does not. */
typedef struct recmap_schema_feature {
    const char *name; /* UTF-8, NUL-terminated; a name may contain NULs before that. Lives as long
                         as the schema */
    size_t name_size; /* bytes of the name */
    const char *kind; /* "int64", "float", "bytes"; "mixed" if values of records or steps differ;
                         the kind of the empty lists if there are no values; "unset" if no record
                         holds it, or only empty lists of several kinds; of text also "bool" and
                         "nested": recmap_schema_add_record. A static string */
    double share;     /* fraction of all records that hold the feature, or that have the list */
    uint64_t min_length; /* number of values, over the records that hold it, or over the steps that
                            have a kind */
    uint64_t max_length;
    int is_list;  /* a feature list */
    int is_fixed; /* every record holds it in one kind with min_length values, and that is not 0: it
                     can be FIXED_LEN. For a list: this is true of every step; it can be
                     FIXED_LEN_SEQUENCE */
    double unset_share; /* fraction of all records that have it without a kind. For a list: fraction
                           of the steps without a kind */
    double missing_share; /* fraction of all records that do not have it at all */
    uint64_t min_steps;   /* of a list, over the records that have it */
    uint64_t max_steps;
    /* Values by kind, over all records, and their range if there are any. */
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
    /* Bytes that are a JPEG, PNG or WebP picture, by their contents; the upright size that most of
     * them have; and whether one is gray with 16 bits, which become no pixels of 8 bits. */
    uint64_t image_count;
    uint32_t image_height;
    uint32_t image_width;
    int has_wide_gray;
    uint64_t turned_count; /* pictures that EXIF says are not stored upright */
    uint64_t reserved[8];  /* 0; room for later versions */
} recmap_schema_feature;

/* The number of features and feature lists, and number `feature_index` (below that) of them:
 * features first, then lists, each sorted by the bytes of their names. */
RECMAP_API size_t recmap_schema_feature_count(const recmap_schema *schema);
RECMAP_API recmap_schema_feature recmap_schema_get_feature(const recmap_schema *schema,
                                                           size_t feature_index);

/* What a part of a record is: a feature of an Example or of the context of a SequenceExample; a
 * feature list, before its steps; or the next step of that feature list. */
typedef enum recmap_example_part_kind {
    RECMAP_EXAMPLE_PART_FEATURE = 1,
    RECMAP_EXAMPLE_PART_LIST = 2,
    RECMAP_EXAMPLE_PART_STEP = 3,
} recmap_example_part_kind;

/* A part of a record. Pointers are valid only during the call, except that `bytes` points into the
 * record. */
typedef struct recmap_example_part {
    recmap_example_part_kind kind;
    const char *name; /* of the feature or list: UTF-8, not NUL-terminated */
    size_t name_size;
    recmap_type type;          /* of the values; NONE for a list, and for a feature that is unset */
    size_t count;              /* values; for a list: steps */
    const int64_t *int64s;     /* the values, if they are INT64; else NULL */
    const float *floats;       /* the same for FLOAT, */
    const recmap_bytes *bytes; /* and for BYTES */
} recmap_example_part;

/* Receives one part. A status other than RECMAP_OK stops recmap_example_visit, which returns it. */
typedef recmap_status (*recmap_example_visit_fn)(const recmap_example_part *part, void *context);

/* Passes all features of one record to `visit`: the features of a tf.Example, or the features of
 * the context of a tf.SequenceExample and then its feature lists, each sorted by the bytes of their
 * names. Values are as protobuf reads them. The whole record is checked before the first call.
 *
 * Errors: CORRUPT if the record is neither message, with the byte of the record as `offset`;
 * NO_MEMORY; any status of `visit`, which then must fill `error`. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_visit(recmap_example_visit_fn visit,
                                                               void *context, const void *data,
                                                               size_t size, recmap_error *error);

/* Checks that a record is not of another kind. Protobuf reads many other messages as a tf.Example
 * without features, so that recmap_example_visit passes nothing and reports no error.
 *
 * Errors: CORRUPT if the record has neither features nor feature lists, but other contents, such as
 * an event of TensorBoard, or is an ExampleListWithContext. The message says what it is, as far as
 * that is known, and the advice what to do. OK for all other bytes, also malformed ones. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_example_check(const void *data, size_t size,
                                                               recmap_error *error);

/* Appends one record as one line of JSON, without a newline: protobuf's own JSON mapping of
 * tf.Example if the record is one and nothing would be lost, else the mapping of tf.SequenceExample
 * under the same condition, else {"number": N, "base64": "..."}. recmap_example_builder_read_json
 * reads it back.
 *
 * The mapping is the same as of Python's json_format.MessageToJson: bytes in base64, 64-bit
 * integers as strings, floats with the fewest digits that read back to the same value, "NaN",
 * "Infinity"; names sorted. An unset feature is {}, an empty list is {"int64List":{}}, and an empty
 * record, which is an Example without features, is {}. Reading the JSON back gives a message equal
 * to the record's. Therefore a record with fields that neither message defines, or with a NaN other
 * than 0x7fc00000, is written in base64. Errors: NO_MEMORY; the text is then unchanged. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_record_to_json(recmap_text *text,
                                                                const recmap_record *record,
                                                                recmap_error *error);

/* Finds records that change the kind of a feature (3, then 3.5), which no parser reads. Threads: a
 * check belongs to one thread at a time. */
typedef struct recmap_kind_check recmap_kind_check;

/* Creates a check, which the caller destroys. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_kind_check_create(recmap_kind_check **check,
                                                                   recmap_error *error);
/* NULL may be destroyed. */
RECMAP_API void recmap_kind_check_destroy(recmap_kind_check *check);

/* Compares the kinds of a record's features, and of the steps of its feature lists, with the kinds
 * in the records added before. A feature without values has no kind to compare. A record that
 * is neither message, or that has other fields, is counted and not compared. Values are not read.
 * It remembers at most 65,536 names. Errors: NO_MEMORY. Cost: a few nanoseconds per feature if
 * records have the same features. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_kind_check_add(recmap_kind_check *check,
                                                                const void *data, size_t size,
                                                                recmap_error *error);

/* A warning about a feature, or NULL if there are at most `index`. There is one for each feature
 * whose kind changed, in the order in which this was found, and at most 64. It has the form of an
 * error, with the number of the first record that differs, counted from 0; it lives as long as the
 * check. */
RECMAP_API const recmap_error *recmap_kind_check_warning(const recmap_kind_check *check,
                                                         size_t index);

#ifdef __cplusplus
}
#endif
#endif
