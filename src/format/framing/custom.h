/* A user's framing, called through the same function table as recmap's own. The user's functions
 * are not trusted: every frame they return is checked first. Pure if the user's functions are. */
#ifndef RECMAP_FORMAT_FRAMING_CUSTOM_H
#define RECMAP_FORMAT_FRAMING_CUSTOM_H

#include "format/framing/framing.h"

enum { CUSTOM_NAME_MAX = 63 };

/* Wraps `table`, which must outlive the framing. */
struct framing custom_framing(const recmap_framing *table);

/* Returns why the table is invalid, or NULL if it is valid. */
const char *custom_fault(const recmap_framing *table);

#endif
