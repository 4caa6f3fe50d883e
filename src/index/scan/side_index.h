/* Text indexes written by other tools, such as DALI's tfrecord2idx and the package `tfrecord`: one
 * file per shard, with one line per record, `OFFSET SIZE` of its frame. */
#ifndef RECMAP_INDEX_SCAN_SIDE_INDEX_H
#define RECMAP_INDEX_SCAN_SIDE_INDEX_H

#include "index/scan/scan.h"

/* Finds the records of the shard at `path` with its text index: the file in `folder` that has the
 * shard's name followed by `.idx`, or with `.idx` instead of its last extension. Headers are
 * checked. Payloads are read only for ids and columns, so their stored CRCs are not verified.
 * Errors: INVALID if there is no text index; MISMATCH naming the text index, its line, the shard
 * and its byte, if the two disagree; otherwise those of scan_shards. */
recmap_status side_index_scan(const char *folder, const char *path, const struct scan_sink *sink,
                              const struct scan_options *options, recmap_error *error);

#endif
