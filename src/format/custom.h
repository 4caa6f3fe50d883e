/* A framing that a user wrote, behind the same functions as recmap's own: what it says of a frame
 * is checked before anybody believes it. Pure, if the user's functions are. */
#ifndef RECMAP_FORMAT_CUSTOM_H
#define RECMAP_FORMAT_CUSTOM_H

#include "format/framing.h"

enum { CUSTOM_NAME_MAX = 63 };

/* `table` must outlive the framing. */
struct framing custom_framing(const recmap_framing *table);

/* Why the table is none, or NULL. */
const char *custom_fault(const recmap_framing *table);

#endif
