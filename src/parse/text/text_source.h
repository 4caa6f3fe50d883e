/* Where the values of a record of text are: in fields of a row, or in members of a JSON object. */
#ifndef RECMAP_PARSE_TEXT_TEXT_SOURCE_H
#define RECMAP_PARSE_TEXT_TEXT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

#include "base/text/fields.h"

struct framing;
struct json_reader;
struct read_fault;

/* How records are written. */
struct text_format {
    char separator;     /* of the fields of a row; 0: records are JSON objects */
    bool has_quotes;    /* of rows: fields may be in quotes */
    const char *header; /* the row that names the fields; NULL: they have no names */
    size_t header_size;
    const char *header_file; /* for errors about the header; NULL: not known */
};

/* How the rows of files with this framing are written. `header` may be NULL. */
struct text_format text_format_of(const struct framing *framing, const char *header,
                                  size_t header_size);

/* A reader of the fields of one row. */
struct field_reader text_format_reader(const struct text_format *format, const char *text,
                                       size_t size);

/* What a record has for a key. */
struct text_piece {
    const char *data; /* of a row: the field, without its quotes; else a JSON value. NULL: none, or
                         null */
    size_t size;
    bool has_quotes; /* within the field, each twice */
    char *path; /* of JSON: the rest of the key, if the value is not what the whole key leads to,
                   but an array on the way: see json_gather. It may also be a scalar, which has
                   no members. Else NULL */
};

/* A key that is wanted of a row, and the field that has its value. At the end: SIZE_MAX. */
struct field_key {
    size_t place;
    size_t key;
};

/* The keys whose values are wanted, compiled. Immutable and thread-safe. */
struct text_source {
    struct text_format format; /* without the header */
    char **keys;
    size_t key_count;
    size_t *places;          /* of rows: the field of each key, from 0 */
    struct field_key *order; /* of rows: the keys in the order of their places, and an end */
    size_t field_count;      /* that every row must have; 0: not known */
    bool has_paths;          /* of JSON: a key has dots, or is there twice */
};

/* Compiles keys. A key of a row is the name of a field in the header, or `#3` for the field with
 * three fields before it. A key of JSON is the name of a member, or of members within members
 * (`a.b`). Strings are copied. Errors: FEATURE for a name that the header lacks, with a similar one
 * as advice, or has twice; INVALID for a malformed header; both with the file and byte of the
 * header, if they are known; NO_MEMORY. Call text_source_deinit also
 * after an error. */
recmap_status text_source_init(struct text_source *source, const struct text_format *format,
                               const char *const *keys, size_t key_count, recmap_error *error);
void text_source_deinit(struct text_source *source);

/* Finds the piece of each key in a record. Of JSON members with the same name, the last one counts.
 * Returns false and fills `fault` if the record is malformed or has another number of fields. */
bool text_source_find(struct text_piece *pieces, const struct text_source *source,
                      const uint8_t *data, size_t size, struct read_fault *fault);

/* The two kinds of records, for text_source_find. */
bool row_find(struct text_piece *pieces, const struct text_source *source, const char *data,
              size_t size, struct read_fault *fault);
bool json_find(struct text_piece *pieces, const struct text_source *source, const char *data,
               size_t size, struct read_fault *fault);

/* Reads an object and finds its members. Returns false at a byte that does not fit. */
bool json_find_members(struct text_piece *pieces, const struct text_source *source,
                       struct json_reader *reader);

#endif
