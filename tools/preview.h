/* A record for people: its number and size, then the features of a tf.Example with their first
 * values, those of a tf.SequenceExample with the first steps of its lists, or else its first
 * bytes. */
#ifndef RECMAP_PREVIEW_H
#define RECMAP_PREVIEW_H

#include <stdbool.h>
#include <stdio.h>

#include <recmap/record.h>

/* `json` is what recmap_record_to_json says of the record. */
void preview_print(FILE *stream, const recmap_record *record, const char *json, bool has_colour);

#endif
