/* Reading records some of which are damaged, for callers that collect or repair failures. */
#ifndef RECMAP_DATASET_BATCH_COLLECT_H
#define RECMAP_DATASET_BATCH_COLLECT_H

#include <recmap/dataset.h>

struct lost_row;

/* The rows of a batch whose records are damaged, ascending. Zeroed, it is empty. */
struct lost_rows {
    struct lost_row *rows;
    size_t count;
};

void lost_rows_deinit(struct lost_rows *lost);

/* As recmap_dataset_gather, after that failed because a record is damaged: reads the records one by
 * one, gathers the others, and sets `lost`, which must be empty. The damaged records are in the
 * batch too, without bytes. After an error, `lost` and the batch are empty. */
recmap_status dataset_gather_readable(struct lost_rows *lost, recmap_batch *batch,
                                      recmap_dataset *dataset, const uint64_t *numbers,
                                      size_t count, recmap_error *error);

/* Parses the records of a batch, and handles lost rows like rows that cannot be parsed: they are
 * repaired if the batch has a repair, else collected. Errors: as recmap_dataset_parse; the records
 * stay then. */
recmap_status dataset_parse_around(recmap_batch *batch, recmap_dataset *dataset,
                                   const recmap_parser *parser, const struct lost_rows *lost,
                                   recmap_error *error);

/* As recmap_dataset_parse with RECMAP_PARSE_COLLECT, after gathering the records failed because one
 * of them is damaged: reads them one by one, and makes the rows of damaged ones failures. */
recmap_status dataset_parse_readable(recmap_batch *batch, recmap_dataset *dataset,
                                     const recmap_parser *parser, const uint64_t *numbers,
                                     size_t count, recmap_error *error);

#endif
