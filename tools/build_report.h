/* What a build of an index tells when it is done. */
#ifndef RECMAP_BUILD_REPORT_H
#define RECMAP_BUILD_REPORT_H

#include <recmap/index.h>

#include "progress_bar.h"

/* What was taken over from older indexes and so not scanned. */
struct build_reused {
    uint64_t record_count;
    uint64_t byte_count;
};

/* One line of what was done; then what the user may not expect. */
void build_report(const char *path, const recmap_index_summary *summary, struct build_reused reused,
                  bool has_ids, const struct progress_bar *progress);

#endif
