/* Prints a schema as source text: the features that a parser is created from. */
#ifndef RECMAP_TOOLS_SCHEMAS_SCHEMA_FEATURES_H
#define RECMAP_TOOLS_SCHEMAS_SCHEMA_FEATURES_H

#include <stdio.h>

#include <recmap/dataset.h>
#include <recmap/example.h>

/* Prints C arrays of recmap_feature. Features that a parser cannot read become comments. */
void schema_features_print_c(FILE *stream, const recmap_schema *schema);

/* The same as Python dicts: of recmap.FixedLen, ..., or of tf.io.FixedLenFeature, ... For a data
 * set of CSV or JSON lines, the first is a recmap.Csv or recmap.JsonLines. */
void schema_features_print_python(FILE *stream, const recmap_schema *schema,
                                  const recmap_dataset *dataset);
void schema_features_print_tf(FILE *stream, const recmap_schema *schema);

#endif
