/* A schema as source text: the features that a parser is made from, to be pasted into a program. */
#ifndef RECMAP_SCHEMA_FEATURES_H
#define RECMAP_SCHEMA_FEATURES_H

#include <stdio.h>

#include <recmap/example.h>

/* C: arrays of recmap_feature. What a parser cannot read is told in comments. */
void schema_features_print_c(FILE *stream, const recmap_schema *schema);

#endif
