/* One batch of columns from several: each part holds the values of consecutive rows, read by a
 * thread of its own. Rows with a fixed number of values have a place in the whole from the start,
 * so they are read straight into it; other values are copied from the parts to the whole. The
 * steps:
 *
 *     columns_merge_start   before the parts are read
 *     columns_merge_read    for each part, on any thread
 *     columns_merge_reserve after all are read
 *     columns_merge_copy    for each part, on any thread
 *     columns_merge_finish  after all are copied
 *     columns_merge_share   for each share, on any thread, if there are bytes left to copy */
#ifndef RECMAP_PARSE_COLUMNS_MERGE_H
#define RECMAP_PARSE_COLUMNS_MERGE_H

#include "parse/columns/columns.h"

struct columns_merge {
    recmap_columns *whole;
    recmap_columns **parts;
    size_t part_count;
    bool leaves_out; /* repairs may leave rows out of the parts, so that later rows move up */
};

/* Starts the whole with room for `row_count` rows. Returns false without memory. */
bool columns_merge_start(const struct columns_merge *merge, const recmap_parser *parser,
                         size_t row_count);

/* Reads the records of a part, whose first row is row `first_row` of the whole. Errors: as
 * recmap_parser_parse. */
recmap_status columns_merge_read(const struct columns_merge *merge, size_t part, size_t first_row,
                                 const recmap_record *records, size_t record_count,
                                 recmap_parse_mode mode, recmap_error *error);

/* Makes room for what the parts hold, and merges their failures and nulls. `size` is set to the
 * approximate number of bytes that columns_merge_copy will copy in total. Returns false without
 * memory. */
bool columns_merge_reserve(uint64_t *size, const struct columns_merge *merge);

/* Returns false if it was interrupted. */
bool columns_merge_copy(const struct columns_merge *merge, size_t part,
                        struct interrupt *interrupt);

/* Assembles the columns, except for the bytes that columns_merge_share copies; `size` is set to
 * their number. Returns false without memory, or if it was interrupted. */
bool columns_merge_finish(uint64_t *size, const struct columns_merge *merge,
                          struct interrupt *interrupt);

/* Returns false if it was interrupted. */
bool columns_merge_share(const struct columns_merge *merge, size_t share, size_t share_count,
                         struct interrupt *interrupt);

/* Ends the merge: the parts are empty afterwards, and after a failure so is the whole. */
void columns_merge_end(const struct columns_merge *merge, bool has_failed);

#endif
