/* The framings known to this process: the built-in ones and those that users registered. */
#ifndef RECMAP_FORMAT_SHARDS_FRAMINGS_H
#define RECMAP_FORMAT_SHARDS_FRAMINGS_H

#include <stdbool.h>

#include "format/framing/framing.h"

/* Finds the framing with the name that an index stores. False if it is unknown. Thread-safe. */
bool framings_find(struct framing *framing, const char *name);

/* The same for a name given by a user: `auto` or NULL means tfrecord. Errors: INVALID. */
recmap_status framings_choose(struct framing *framing, const char *name, recmap_error *error);

#endif
