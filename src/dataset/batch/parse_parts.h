/* Parsing the gathered records of a batch in parts of a few rows, each on any thread. Unlike
 * parallel.h, the caller chooses the threads, and records may be repaired while they are parsed.
 *
 *     parse_parts_start    before the first part
 *     parse_parts_read     for each part, on any thread
 *     parse_parts_finish   after all are read
 *
 * The columns are the same as those of dataset_parse_batch. */
#ifndef RECMAP_DATASET_BATCH_PARSE_PARTS_H
#define RECMAP_DATASET_BATCH_PARSE_PARTS_H

#include <recmap/dataset.h>

#include "parse/columns/merge.h"

struct parse_parts {
    recmap_batch *batch;
    recmap_dataset *dataset;
    const recmap_parser *parser;
    struct columns_merge columns;
};

/* How one part is parsed. Indices of records count from the first one of the part. */
struct parse_part {
    const struct row_repair *repair; /* NULL: the first failure is an error */
    const struct lost_row *lost;     /* of the part's rows */
    size_t lost_count;
    struct image_counts *image_counts;
    recmap_columns *scratch; /* columns of the calling thread, whose scratch memory is used */
};

/* Returns the number of parts that pay: 1 unless the parser has pictures and all of them have a
 * fixed place in the columns. Pictures that keep their size would be copied from the parts. */
size_t parse_parts_count(const recmap_parser *parser, size_t record_count);

/* The index of the first record of a part; of part `part_count`, the number of records. */
size_t parse_parts_first(const struct parse_parts *parts, size_t part);

/* Starts parsing the records of the batch. With `leaves_out`, repairs may leave rows out. Errors:
 * as recmap_dataset_parse. */
recmap_status parse_parts_start(struct parse_parts *parts, recmap_batch *batch,
                                recmap_dataset *dataset, const recmap_parser *parser,
                                bool leaves_out, recmap_error *error);

/* Parses a part. Errors: as recmap_dataset_parse; the other parts may be read all the same, but not
 * finished. */
recmap_status parse_parts_read(const struct parse_parts *parts, size_t part,
                               const struct parse_part *how, recmap_error *error);

/* The batch whose memory a part may use for the bytes of its records. It lives as long as the
 * records of the whole batch. */
recmap_batch *parse_parts_memory(const struct parse_parts *parts, size_t part);

/* Assembles the columns of the batch from the parts. If rows were left out, the batch still has
 * their records. Errors: NO_MEMORY, CANCELLED. */
recmap_status parse_parts_finish(const struct parse_parts *parts, recmap_error *error);

/* Ends parsing that will not be finished. */
void parse_parts_cancel(const struct parse_parts *parts);

#endif
