/* Columns that are added to an index after it was built. Shards are never changed, and are read
 * only where ids repeat or a column is lifted from the records. */
#ifndef RECMAP_ANNOTATION_H
#define RECMAP_ANNOTATION_H

#include <recmap/dataset.h>
#include <recmap/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a value names its record. */
typedef enum recmap_key {
    RECMAP_KEY_AUTO = 0,   /* of a file: ID if it has a field of ids, else NUMBER */
    RECMAP_KEY_ID = 1,     /* the id of the record: field "id", or the name of the id feature */
    RECMAP_KEY_NUMBER = 2, /* the number of the record: field "number" */
} recmap_key;

/* Adds columns to an index, removes and renames them. The result is an ordinary index: the added
 * columns are lifted columns. The index is replaced when recmap_annotation_finish succeeds; until
 * then it stays unchanged. Changes apply in the order of the calls.
 *
 * A column has one type: int64, float (32 bits), float64 or bytes. A bytes value has at most 255
 * bytes, and a column at most 1,048,576 distinct ones. A record without a value gets the column's
 * default; without a default its value is null. Records that are appended to the index later get
 * the value of the feature with the column's name, if they have that feature, or else the default
 * or null.
 *
 * Ids are compared by the 48-bit hashes that the index stores. Records are read only if several
 * have the same hash. If no two have, none is read, and an id that no record has matches a given
 * record with a probability of 2^-48.
 *
 * Memory is bounded: about 32 MiB for each added column, and its distinct byte values. Further
 * rows are sorted in temporary files next to the index. An annotation belongs to one thread at a
 * time. */
typedef struct recmap_annotation recmap_annotation;

typedef struct recmap_annotation_options {
    uint32_t version;            /* RECMAP_ANNOTATION_OPTIONS_VERSION */
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
} recmap_annotation_options;

#define RECMAP_ANNOTATION_OPTIONS_VERSION 1
#define RECMAP_ANNOTATION_OPTIONS_INIT                                                             \
    { RECMAP_ANNOTATION_OPTIONS_VERSION, NULL, NULL }

/* Waits for other annotations of the index and for appends to it, and keeps new ones waiting until
 * the annotation is destroyed. The data set must outlive the annotation, and keeps reading the
 * index as it was opened. NULL options are the defaults. Errors: INVALID for a concatenation; STALE
 * if the index has other records since the data set was opened; CANCELLED by the progress callback;
 * else as recmap_dataset_open. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_annotation_create(recmap_annotation **annotation, recmap_dataset *dataset,
                         const recmap_annotation_options *options, recmap_error *error);

/* Removes a column, or renames it. Errors: NO_COLUMN; INVALID for an invalid or used name. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_annotation_drop(recmap_annotation *annotation,
                                                                 const char *name,
                                                                 recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_annotation_rename(recmap_annotation *annotation,
                                                                   const char *name,
                                                                   const char *new_name,
                                                                   recmap_error *error);

/* If not 0, the default, columns that are added afterwards from files or rows may have nulls. If 0,
 * a record without a value is an error of recmap_annotation_finish, unless the column has a
 * default.
 */
RECMAP_API void recmap_annotation_set_nullable(recmap_annotation *annotation, int is_nullable);

/* If not 0, rows whose key no record has are left out of columns that are added afterwards. If 0,
 * the default, such rows are an error of recmap_annotation_finish, which has their number. It
 * is always an error if no record has the key of any row of a column. */
RECMAP_API void recmap_annotation_ignore_unmatched(recmap_annotation *annotation, int ignores);

/* The number of rows that were added so far whose key no record has. */
RECMAP_API uint64_t recmap_annotation_unmatched_count(const recmap_annotation *annotation);

/* Adds a column whose values are read from the field `name` of a file. The file's name ends in
 * .csv, .tsv, .jsonl or .ndjson. CSV and TSV have a header line with the names of the fields, and
 * JSON lines an object in each line. The type of the column is the first of int64, float, float64
 * and bytes that all values have; float is for numbers that it holds as they are written. An empty
 * field without quotes and null are missing values. `default_value` may be NULL.
 *
 * Errors: INVALID, naming file and line, for a malformed file, a value of a wrong type, a key that
 * is missing, and, from recmap_annotation_finish, a key that is repeated or that no record has; IO;
 * CANCELLED. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_annotation_add_file(recmap_annotation *annotation, const char *name, const char *path,
                           recmap_key key, const char *default_value, recmap_error *error);

/* A warning about a column that was added from a file, or NULL if there are at most `index`. In CSV
 * and TSV, one text among numbers makes a column one of bytes: if most values are numbers, the
 * warning names the line of the first text. If a column of float64 does not hold integers exactly
 * (beyond 2^53), it names the line of the first of them. It has the form of an error, and lives as
 * long as the annotation. */
RECMAP_API const recmap_error *recmap_annotation_warning(const recmap_annotation *annotation,
                                                         size_t index);

/* Adds a lifted column: the values of a feature, which are read from the records, as when an index
 * is built with that lift. Ids, counts and other columns are kept. Errors: FEATURE, naming shard
 * and record, for a record without the feature if the lift has no default and is not nullable, or
 * with another type; INVALID; else as recmap_dataset_gather. Cost: reads all records once. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_annotation_lift(recmap_annotation *annotation,
                                                                 const recmap_lift *lift,
                                                                 recmap_error *error);

/* Adds a column without values. recmap_annotation_add_rows adds values to the last such column. The
 * column is marked as annotated (recmap_lifted_column.is_annotated). */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_annotation_add_column(recmap_annotation *annotation, const char *name, recmap_type type,
                             const char *default_value, recmap_error *error);

/* As recmap_annotation_add_column, with the name, type and default of `column`, which is a column
 * of another index. The new column is marked as annotated only if `column` is: the records must
 * hold the values of one that is not. Use it for the index of a copy of records. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_annotation_add_column_like(
    recmap_annotation *annotation, const recmap_lifted_column *column, recmap_error *error);

/* Adds a value for each of `count` keys: ids, or numbers as INT64. A value is of the column's type,
 * or NONE if it is missing. Errors: INVALID for another type. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_annotation_add_rows(recmap_annotation *annotation, recmap_key key, const recmap_value *keys,
                           const recmap_value *values, size_t count, recmap_error *error);

/* Writes the new index and replaces the old one. Errors: INVALID for a key that is repeated or,
 * unless that is ignored, that no record has, and for a record without a value if that may not be
 * null; IO (ENOSPC: no space left); CORRUPT (the index);
 * MISMATCH if another build replaced the index meanwhile; CANCELLED. After an error nothing has
 * changed, and the annotation can only be destroyed. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_annotation_finish(recmap_annotation *annotation,
                                                                   recmap_error *error);

/* Frees the annotation and discards an unfinished index. NULL may be destroyed. */
RECMAP_API void recmap_annotation_destroy(recmap_annotation *annotation);

#ifdef __cplusplus
}
#endif
#endif
