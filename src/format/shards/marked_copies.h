/* Which files of a list are copies of others in the list, by the marks in their names. */
#ifndef RECMAP_FORMAT_SHARDS_MARKED_COPIES_H
#define RECMAP_FORMAT_SHARDS_MARKED_COPIES_H

#include <recmap/status.h>

#include <stdbool.h>
#include <stddef.h>

/* Sets `copies`, which has a value for each of the `count` paths. A file is a copy
 * - if the name of another file remains without one of its marks, or without several;
 * - or if several files differ in their marks alone: then the first one is the original. But files
 *   without -of-N that only differ in a number, as "x (1)" and "x (2)", are not copies.
 * Asks the thread's interrupt. Errors: NO_MEMORY, CANCELLED. */
recmap_status marked_copies_find(bool *copies, char *const *paths, size_t count,
                                 recmap_error *error);

#endif
