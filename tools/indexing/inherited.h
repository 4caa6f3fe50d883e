/* Index options taken from an existing index: its framing, id feature, lifted columns and
 * counted features. */
#ifndef RECMAP_TOOLS_INDEXING_INHERITED_H
#define RECMAP_TOOLS_INDEXING_INHERITED_H

#include <recmap/dataset.h>
#include <recmap/index.h>

struct inherited {
    recmap_dataset *dataset; /* owns the strings that the options borrow; NULL: the caller's does */
    recmap_lift *lifts;
    recmap_counted_feature *counted_features;
};

/* Opens the index at `path` and sets framing, id, lifts and counted features of `options`
 * unless they are set already. The options borrow from `inherited`. Close `inherited` also after an
 * error. */
recmap_status inherited_open(struct inherited *inherited, recmap_index_options *options,
                             const char *path, const recmap_dataset_options *dataset_options,
                             recmap_error *error);

/* Sets id and counted features of `options` from an open data set, which must outlive the options.
 * Not its lifted columns: their values may come from elsewhere than from the records. */
recmap_status inherited_borrow(struct inherited *inherited, recmap_index_options *options,
                               const recmap_dataset *dataset, recmap_error *error);

void inherited_close(struct inherited *inherited);

#endif
