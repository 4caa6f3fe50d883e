/* The options of an index build that are taken from an index: its framing, ids and lifted columns.
 */
#ifndef RECMAP_INHERIT_H
#define RECMAP_INHERIT_H

#include <recmap/dataset.h>
#include <recmap/index.h>

typedef struct inherited {
    recmap_dataset *from; /* its strings are the options' */
    recmap_lift *lifts;
} inherited;

/* Opens the index at `path` and sets framing, id and lifts of `options`, unless they name any
 * already. Errors: as recmap_dataset_open; what was opened is then still to be ended. */
recmap_status inherit(inherited *made, recmap_index_options *options, const char *path,
                      const recmap_dataset_options *reading, recmap_error *error);
void inherit_end(inherited *ended);

#endif
