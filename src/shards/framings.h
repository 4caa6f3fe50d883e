/* The framings that this process knows: recmap's own, and those that users registered. */
#ifndef RECMAP_SHARDS_FRAMINGS_H
#define RECMAP_SHARDS_FRAMINGS_H

#include <stdbool.h>

#include "format/framing.h"

/* The framing of that name, as an index has it; false: none is known. Threads: any. */
bool framings_find(struct framing *framing, const char *name);

/* The same for a name as users give it: `auto` or NULL is tfrecord. Errors: INVALID. */
recmap_status framings_choose(struct framing *framing, const char *name, recmap_error *error);

#endif
