/* Parsing the gathered records of a batch in parts of a few pictures, each on any thread. Unlike
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
    size_t part_size; /* records */
    struct columns_merge columns;
};

/* How a part is parsed. Indices of records count from the first one of the part. */
struct part_options {
    const struct row_repair *repair; /* NULL: the first failure is an error */
    const struct lost_row *lost;     /* of the part's rows */
    size_t lost_count;
    struct image_counts *image_counts;
    recmap_columns *scratch; /* columns of the calling thread, whose scratch memory is used */
};

/* The most pictures in a part, unless one record has more. */
enum { PART_PICTURES = 16 };

/* Returns how many of `count` items of `byte_count` encoded bytes are a part: at most `max`, and
 * fewer if they are long. At least 1. */
size_t part_size_of(uint64_t byte_count, size_t count, size_t max);

/* The records in a part of this batch. */
size_t parse_parts_size(const recmap_batch *batch, const recmap_parser *parser);

/* The number of parts once they are started. */
size_t parse_parts_count(const struct parse_parts *parts);

/* The index of the first record of a part; after the last part, the number of records. */
size_t parse_parts_first(const struct parse_parts *parts, size_t part);

/* Starts parsing the records of the batch, and reserves memory for their pixels. With `leaves_out`,
 * repairs may leave rows out. Errors: as recmap_dataset_parse. */
recmap_status parse_parts_start(struct parse_parts *parts, recmap_batch *batch,
                                recmap_dataset *dataset, const recmap_parser *parser,
                                bool leaves_out, recmap_error *error);

/* Parses a part. Errors: as recmap_dataset_parse; the other parts may be read all the same, but not
 * finished. */
recmap_status parse_parts_read(const struct parse_parts *parts, size_t part,
                               const struct part_options *options, recmap_error *error);

/* The batch whose memory a part may use for the bytes of its records. It lives as long as the
 * records of the whole batch. */
recmap_batch *parse_parts_memory(const struct parse_parts *parts, size_t part);

/* Assembles the columns of the batch from the parts. If rows were left out, the batch still has
 * their records. Errors: NO_MEMORY, CANCELLED. */
recmap_status parse_parts_finish(const struct parse_parts *parts, recmap_error *error);

/* Ends parsing that will not be finished. */
void parse_parts_cancel(const struct parse_parts *parts);

#endif
