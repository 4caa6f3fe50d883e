/* Records parsed into the columns of their batch. */
#ifndef RECMAP_DATASET_BATCH_PARSE_H
#define RECMAP_DATASET_BATCH_PARSE_H

#include <recmap/dataset.h>

/* Parses the records of a batch that was gathered. Errors: as recmap_dataset_parse; the records
 * stay then. */
recmap_status dataset_parse_batch(recmap_batch *batch, recmap_dataset *dataset,
                                  const recmap_parser *parser, recmap_parse_mode mode,
                                  recmap_error *error);

/* Adds the shard to a parser's error and converts the byte in the record to the byte in the shard.
 * An error that names a file already stays as it is. */
void dataset_place_error(recmap_dataset *dataset, recmap_error *error);

#endif
