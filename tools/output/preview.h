/* A readable preview of a record: number, size, and the first values of each feature (and the first
 * steps of each feature list), or the first bytes if it is not a tf.Example or tf.SequenceExample.
 */
#ifndef RECMAP_TOOLS_OUTPUT_PREVIEW_H
#define RECMAP_TOOLS_OUTPUT_PREVIEW_H

#include <stdbool.h>
#include <stdio.h>

#include <recmap/record.h>

/* Prints the preview. Characters that must not reach a terminal are escaped. Errors: NO_MEMORY. */
recmap_status preview_print(FILE *stream, const recmap_record *record, bool has_colour,
                            recmap_error *error);

#endif
