/* Reads two fields of each row of a CSV, TSV or JSON lines file: a key and a value. */
#ifndef RECMAP_DATASET_ANNOTATE_TABLE_H
#define RECMAP_DATASET_ANNOTATE_TABLE_H

#include <recmap/annotation.h>

#include "base/os/map.h"
#include "base/text/fields.h"
#include "base/words/near_name.h"
#include "dataset/annotate/field.h"

struct table_scratch {
    char *data;
    size_t capacity;
};

struct table {
    const char *path;
    const char *name; /* of the value's field */
    const char
        *id_name;   /* of the data set's id feature, which also names a field of ids, or NULL */
    recmap_key key; /* ID or NUMBER once the table is open */
    const char *key_name; /* of the key's field once the table is open */
    bool is_json;         /* JSON lines, which use only the position of `text` */
    struct file_map *map;
    struct field_reader text;
    size_t field_count, key_index, value_index;
    struct table_scratch key_scratch, value_scratch; /* fields without quotes or escapes */
};

struct table_row {
    uint64_t line;
    struct field key, value; /* valid until the next row is read */
};

/* Opens the file for its fields `name` and "id" or "number". A field `id_name`, which may be NULL,
 * is like "id". Strings are borrowed. Close the table also after an error. Errors: INVALID for a
 * malformed header, a missing field or two fields of ids, naming the file; IO. */
recmap_status table_open(struct table *table, const char *path, const char *name, recmap_key key,
                         const char *id_name, recmap_error *error);
void table_close(struct table *table);

/* Reads the next row; `is_row` is false after the last one. Errors: INVALID, naming file and line,
 * NO_MEMORY; CORRUPT if the file was cut short; CANCELLED by the thread's interrupt. */
recmap_status table_next(struct table_row *row, bool *is_row, struct table *table,
                         recmap_error *error);

/* Returns to the first row. */
recmap_status table_rewind(struct table *table, recmap_error *error);

/* The name of a field, in the header or in the first object of JSON lines, that a misspelt name
 * probably means. */
struct near_name table_near_name(const struct table *table, const char *name);

/* Returns true if the file's name ends in this extension. */
bool table_has_extension(const char *path, const char *extension);

#endif
