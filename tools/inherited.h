/* The options of an index build that are taken from an index: its framing, ids and lifted columns.
 */
#ifndef RECMAP_INHERITED_H
#define RECMAP_INHERITED_H

#include <recmap/dataset.h>
#include <recmap/index.h>

struct inherited {
    recmap_dataset *dataset; /* its strings are the options' */
    recmap_lift *lifts;
};

/* Opens the index at `path` and sets framing, id and lifts of `options`, unless they name any
 * already. Errors: as recmap_dataset_open; what was opened is then still to be ended. */
recmap_status inherited_open(struct inherited *inherited, recmap_index_options *options,
                             const char *path, const recmap_dataset_options *dataset_options,
                             recmap_error *error);
void inherited_close(struct inherited *inherited);

#endif
