/* The summary that is printed after an index was built. */
#ifndef RECMAP_TOOLS_INDEXING_BUILD_REPORT_H
#define RECMAP_TOOLS_INDEXING_BUILD_REPORT_H

#include <recmap/index.h>

#include "terminal/progress_bar.h"

/* Records taken from an existing index without reading their shards. */
struct build_reused {
    uint64_t record_count;
    uint64_t byte_count;
};

/* Prints one line with sizes and rates, then lines about records without id, damage and tar
 * archives whose samples may be in parts. */
void build_report(const char *path, const recmap_index_summary *summary, struct build_reused reused,
                  bool has_ids, const struct progress_bar *progress);

/* Prints a message if the index has no records although it has shards. */
void build_report_empty(const char *path, const recmap_index_summary *summary);

#endif
