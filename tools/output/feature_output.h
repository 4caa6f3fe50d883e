/* Writes one feature of records: bytes as they are, numbers as text. */
#ifndef RECMAP_TOOLS_OUTPUT_FEATURE_OUTPUT_H
#define RECMAP_TOOLS_OUTPUT_FEATURE_OUTPUT_H

#include "output/output.h"
#include "output/pixel_options.h"

/* The values to write. */
struct feature_values {
    const char *name; /* of the feature, or of the feature list, for the values of all its steps */
    struct pixel_options pixels; /* if they are wanted, the values are pictures to decode */
};

/* Writes the values of a record: bytes one after the other, unchanged unless the output is a
 * preview or pixels are wanted; numbers in decimal, separated by spaces, with a newline after each
 * record. Of text (a row of CSV or a JSON object), the value of a field is always a line.
 *
 * Errors: INVALID, with similar names, if the record has no such feature; CORRUPT if it is not a
 * tf.Example, tf.SequenceExample or text with fields; FEATURE or UNSUPPORTED if a picture cannot be
 * decoded; IO. */
recmap_status feature_output_write(struct output *output, const struct feature_values *values,
                                   const recmap_record *record, recmap_error *error);

#endif
