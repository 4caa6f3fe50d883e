/* Tells which files a folder or pattern has left out, if a user may have meant them. */
#ifndef RECMAP_FORMAT_SHARDS_LEFT_OUT_H
#define RECMAP_FORMAT_SHARDS_LEFT_OUT_H

#include "base/os/list.h"

/* Adds to `notes`: "NAME: left out WHAT: a, b, c, ...", of the paths of `left_out` from `first` on.
 * Nothing if there are none. Errors: NO_MEMORY. */
recmap_status left_out_note(struct path_list *notes, const char *name, const char *what,
                            const struct path_list *left_out, size_t first, recmap_error *error);

#endif
