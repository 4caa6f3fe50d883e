/* A schema as tables for people: features, and feature lists where there are any. */
#ifndef RECMAP_SCHEMA_TABLE_H
#define RECMAP_SCHEMA_TABLE_H

#include <stdio.h>

#include <recmap/example.h>

void schema_table_print(FILE *stream, const recmap_schema *schema);

#endif
