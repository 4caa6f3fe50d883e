/* Text indexes of others, as DALI's tfrecord2idx and the package `tfrecord` write them: for a shard
 * a file with a line for each record, `OFFSET SIZE` of its whole frame. */
#ifndef RECMAP_SCAN_SIDE_INDEX_H
#define RECMAP_SCAN_SIDE_INDEX_H

#include "scan/scan.h"

/* Finds the records of the shard at `path` by its text index, which lies in `folder` under the
 * shard's name with `.idx` behind it or in place of its last extension. Of each record the header
 * is checked and the stored CRC taken as it is; the rest is not read but for ids and columns.
 * Errors: INVALID when there is no text index; MISMATCH naming the text index and its line, and the
 * shard and its byte, where the two differ; else as scan_shards. */
recmap_status side_index_scan(const char *folder, const char *path, const struct scan_sink *sink,
                              const struct scan_options *options, recmap_error *error);

#endif
