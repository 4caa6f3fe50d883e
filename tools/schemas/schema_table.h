/* Prints a schema as a table of features, and one of feature lists if there are any. */
#ifndef RECMAP_TOOLS_SCHEMAS_SCHEMA_TABLE_H
#define RECMAP_TOOLS_SCHEMAS_SCHEMA_TABLE_H

#include <stdio.h>

#include <recmap/example.h>

void schema_table_print(FILE *stream, const recmap_schema *schema);

#endif
