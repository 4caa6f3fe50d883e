/* Writes one feature of records: bytes as they are, numbers as text. */
#ifndef RECMAP_TOOLS_OUTPUT_FEATURE_OUTPUT_H
#define RECMAP_TOOLS_OUTPUT_FEATURE_OUTPUT_H

#include "output/output.h"

/* Writes the values of the feature called `name`, or of all steps of the feature list with that
 * name: bytes one after the other, unchanged unless the output is a preview; numbers in decimal,
 * separated by spaces, with a newline after each record.
 *
 * Errors: FEATURE, with similar names, if the record has no such feature; CORRUPT if it is not a
 * tf.Example or tf.SequenceExample; IO. */
recmap_status feature_output_write(struct output *output, const char *name,
                                   const recmap_record *record, recmap_error *error);

#endif
