/* FIXED_LEN_SEQUENCE: steps of a fixed shape, padded to the longest row or unpadded with row
 * offsets. */
#ifndef RECMAP_PARSE_COLUMNS_SEQUENCE_H
#define RECMAP_PARSE_COLUMNS_SEQUENCE_H

#include "parse/columns/assembly.h"

/* Assembles the column from its sinks. Returns false when memory runs out. */
bool assemble_sequence(const struct assembly *a);

/* As for an unpadded sequence, whatever the kind: any number of steps of the feature's shape. */
bool assemble_steps(const struct assembly *a);

#endif
