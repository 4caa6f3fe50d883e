/* The features of records of text in a schema. */
#ifndef RECMAP_PARSE_EXAMPLE_SCHEMA_H
#define RECMAP_PARSE_EXAMPLE_SCHEMA_H

#include "parse/example/feature_stats.h"

/* The statistics of a field of rows or a path of JSON objects, to which text_stats_add adds. NULL
 * without memory. */
struct feature_stats *schema_text_feature(recmap_schema *schema, const char *name, size_t size);

/* Counts the record whose values were added. */
void schema_end_text(recmap_schema *schema);

#endif
