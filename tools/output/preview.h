/* A readable preview of a record: number, size, and the first values of each feature (and the first
 * steps of each feature list), or the first bytes if it is not a tf.Example or tf.SequenceExample.
 */
#ifndef RECMAP_TOOLS_OUTPUT_PREVIEW_H
#define RECMAP_TOOLS_OUTPUT_PREVIEW_H

#include <stdbool.h>
#include <stdio.h>

#include <recmap/record.h>

/* `json` is the result of recmap_record_to_json. */
void preview_print(FILE *stream, const recmap_record *record, const char *json, bool has_colour);

#endif
