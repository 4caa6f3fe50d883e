/* Which bytes of long records a batch of rows needs, so that no more are read: for records whose
 * layout is known because they were read as a whole before. */
#ifndef RECMAP_LOADER_SLICES_PARTIAL_H
#define RECMAP_LOADER_SLICES_PARTIAL_H

#include "dataset/batch/gather.h"
#include "dataset/open/row_caches.h"
#include "loader/slices/cut.h"

struct partial_rows {
    const recmap_parser *parser;
    struct row_caches *caches;
    struct gather_parts parts; /* what is read of each record */
    struct list_place *lists;  /* of each record, in the order of the parser's slices */
    struct list_start *starts; /* of each piece, likewise */
    bool has_failed; /* bytes of a record that was not read as a whole are not as its layout says */
};

/* Plans what to read of the records of a batch, whose pieces and their records are set. Call
 * partial_rows_deinit afterwards, even on failure. Errors: NO_MEMORY. */
recmap_status partial_rows_init(struct partial_rows *partial, const recmap_batch *batch,
                                const recmap_parser *parser, struct row_caches *caches,
                                size_t record_count, recmap_error *error);
void partial_rows_deinit(struct partial_rows *partial);

/* Sets the spans of a record that is read only in part. Returns false for any other record. */
bool partial_rows_spans(struct slice_span *spans, const struct partial_rows *partial,
                        size_t record_index, const recmap_record *record);

/* Where to start in the lists for a piece of such a record, for each slice. */
const struct list_start *partial_rows_starts(const struct partial_rows *partial,
                                             size_t piece_index);

/* The bytes of a partial record were good when it was read as a whole. If they are not now, the
 * file was changed, or a value does not fit the feature: the record must be read again as a whole,
 * to say which. Sets `has_failed`, forgets the layout of the record, and returns CORRUPT. */
recmap_status partial_rows_fail(struct partial_rows *partial, uint64_t record, recmap_error *error);

/* Keeps the layout of a long record that was read as a whole, with these spans. */
void partial_rows_learn(const struct partial_rows *partial, size_t record_index,
                        const recmap_record *record, const struct slice_span *spans);

#endif
