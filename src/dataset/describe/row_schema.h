/* Rows of CSV and JSON objects in a schema. */
#ifndef RECMAP_DATASET_DESCRIBE_ROW_SCHEMA_H
#define RECMAP_DATASET_DESCRIBE_ROW_SCHEMA_H

#include <recmap/example.h>

#include "format/framing/framing.h"

/* Adds the fields of a row by their names in the header, or as #0, #1... without one (NULL), or if
 * a name is not UTF-8 or not the first of its kind. `is_added` is false for a malformed row, which
 * adds nothing. Errors: NO_MEMORY. */
recmap_status row_schema_add(bool *is_added, recmap_schema *schema, const struct framing *framing,
                             const char *header, size_t header_size, const recmap_record *record,
                             recmap_error *error);

/* Adds the members of an object (record_is_json), those of objects within it as a.b. Paths of more
 * than 1,000 bytes are left out. Errors: NO_MEMORY. */
recmap_status json_schema_add(recmap_schema *schema, const recmap_record *record,
                              recmap_error *error);

#endif
