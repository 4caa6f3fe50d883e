/* What a build must know of records of text before it reads them: the row that names the fields of
 * CSV files, and the types of lifted columns. */
#ifndef RECMAP_INDEX_BUILD_TEXT_PARTS_H
#define RECMAP_INDEX_BUILD_TEXT_PARTS_H

#include "index/build/build_part.h"
#include "index/extract/extract.h"
#include "index/scan/scan.h"

/* Zero-initialized, it is empty. */
struct text_parts {
    char *header; /* the first row of the CSV files, with a NUL after it; NULL: there is none */
    size_t header_size;
    const char *header_path; /* of the shard or index that it is from; borrowed from its part */
};

/* Finds the header, in the indexes or else in the first shard that is not empty, and prepares the
 * extractor for the records of the shards. Columns have the types that they have in an index, that
 * were asked for, or that the values at the start of the first shard read like. The framing of new
 * shards is that of `options`. Errors: MISMATCH for indexes with different headers; as
 * shard_start_read and extractor_use_text. */
recmap_status text_parts_prepare(struct text_parts *text, const struct build_part *parts,
                                 size_t part_count, struct scan_options *options,
                                 struct extractor *extractor, size_t column_count,
                                 recmap_error *error);
void text_parts_deinit(struct text_parts *text);

#endif
