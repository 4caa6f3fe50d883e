/* Parsers of text: rows of CSV, and JSON lines. Files are indexed with the framings "csv" and
 * "lines"; docs/reference/framings.md describes them. */
#ifndef RECMAP_TABLE_H
#define RECMAP_TABLE_H

#include <recmap/dataset.h>
#include <recmap/example.h>
#include <recmap/parser.h>
#include <recmap/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recmap_csv_options {
    uint32_t version;   /* RECMAP_CSV_OPTIONS_VERSION */
    char delimiter;     /* between fields */
    int no_quotes;      /* not 0: quotes are ordinary characters; 0: fields may be in double quotes,
                           in which a quote is doubled */
    const char *na;     /* the text of a field without a value, besides the empty text; or NULL */
    char separator;     /* between the values of a field that has several */
    const char *header; /* the row that names the fields, as recmap_dataset_header returns it; NULL:
                           they have no names */
    size_t header_size;
    const char *header_file; /* whose first row it is, which errors about the header name; NULL: not
                                known */
} recmap_csv_options;

#define RECMAP_CSV_OPTIONS_VERSION 1
#define RECMAP_CSV_OPTIONS_INIT                                                                    \
    { RECMAP_CSV_OPTIONS_VERSION, ',', 0, NULL, ' ', NULL, 0, NULL }

/* Creates a parser of rows of CSV (RFC 4180). Features are FIXED_LEN and VAR_LEN; with a shape, or
 * VAR_LEN, the field holds values between separators. The key of a feature is the name of a field
 * in the header, or "#3" for the field that has three others before it. Spaces around numbers are
 * ignored. A field without a value is a missing feature: it takes the default, or is an error if it
 * has a fixed length. Each row must have as many fields as the header. Options are copied; NULL:
 * the defaults. Errors: as recmap_parser_create; FEATURE for a field that the header lacks or has
 * twice; INVALID for a header that is not a row. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_parser_create_csv(recmap_parser **parser, const recmap_feature *features, size_t count,
                         const recmap_csv_options *options, recmap_error *error);

/* Creates a parser of JSON objects. The key of a feature is the name of a member, or of a member of
 * members ("a.b"). With a shape, or VAR_LEN, the value is an array; the arrays of a shape are
 * nested. If a key leads through an array of objects, its value is the array of the values of these
 * objects; an object without one is the error FEATURE. Numbers, strings and, for BOOL, true and
 * false have the type that the element needs: "1" and 1.5 are not integers. null is a missing
 * feature. Of members with the same name, the last one counts. Errors: as recmap_parser_create. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_parser_create_json(recmap_parser **parser,
                                                                    const recmap_feature *features,
                                                                    size_t count,
                                                                    recmap_error *error);

/* The first row of the data set's CSV files, which names the fields: without its line's end, and
 * followed by a NUL. NULL if there is none. Valid until the data set is closed. */
RECMAP_API const char *recmap_dataset_header(size_t *size, const recmap_dataset *dataset);

/* As recmap_record_to_json, but appends a row of CSV as an object of texts by the names of its
 * fields, without a header as an array, and a line that is a JSON object as it is. `record->number`
 * is its number in the data set. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_dataset_record_to_json(recmap_text *text, const recmap_dataset *dataset,
                              const recmap_record *record, recmap_error *error);

/* As recmap_example_visit, but of a row of CSV passes the fields, and of a line that is a JSON
 * object the members, in their order. A value has the type that it reads like; members that are
 * neither numbers nor strings are BYTES with their JSON text, and arrays of numbers are FLOAT. An
 * empty field and null have the type NONE. Without a header, fields are called "#0", "#1"...
 * Pointers are valid only during the call. `record->number` is its number in the data set. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_visit(recmap_example_visit_fn visit,
                                                               void *context,
                                                               const recmap_dataset *dataset,
                                                               const recmap_record *record,
                                                               recmap_error *error);

/* As recmap_schema_add, but a row of CSV adds its fields as features, by their names in the header
 * or else as "#0", "#1"..., and a line that is a JSON object its members; those of objects within
 * it are "a.b", also through arrays of objects. `record->number` is its number in the data set.
 *
 * An empty field and null are unset. Values of rows have no types: the kind of a field is "int64"
 * if all of its values read like integers, else "float" if all read like numbers, else "bytes";
 * integers with leading zeros are texts. In JSON, a kind may also be "bool", and "nested" of arrays
 * within arrays; integers beyond int64 are floats. Members of the same name in one object count as
 * several values, and paths of more than 1,000 bytes are left out. A row with another number of
 * fields than the header, and a line that is not an object, are of another kind. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_schema_add_record(recmap_schema *schema,
                                                                   const recmap_dataset *dataset,
                                                                   const recmap_record *record,
                                                                   recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
