/* A readable preview of a record: number, size, and the first values of each feature (and the first
 * steps of each feature list), or of each field of a row of CSV or JSON object, or the first bytes
 * of any other record. */
#ifndef RECMAP_TOOLS_OUTPUT_PREVIEW_H
#define RECMAP_TOOLS_OUTPUT_PREVIEW_H

#include "output/output.h"

/* Prints the preview. Characters that must not reach a terminal are escaped. Errors: NO_MEMORY. */
recmap_status preview_print(const struct output *output, const recmap_record *record,
                            recmap_error *error);

#endif
