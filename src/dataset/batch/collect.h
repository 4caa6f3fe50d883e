/* Parsing records some of which are damaged, for callers that collect failures. */
#ifndef RECMAP_DATASET_BATCH_COLLECT_H
#define RECMAP_DATASET_BATCH_COLLECT_H

#include <recmap/dataset.h>

/* As recmap_dataset_parse with RECMAP_PARSE_COLLECT, after gathering the records failed because one
 * of them is damaged: reads them one by one, and makes the rows of damaged ones failures. */
recmap_status dataset_parse_readable(recmap_batch *batch, recmap_dataset *dataset,
                                     const recmap_parser *parser, const uint64_t *numbers,
                                     size_t count, recmap_error *error);

#endif
