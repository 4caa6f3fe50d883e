/* Heads: how the entries of wanted features begin in the bytes that writers make, so that an entry
 * is recognised, measured and located by comparing its first 32 bytes. */
#ifndef RECMAP_EXAMPLE_HEADS_H
#define RECMAP_EXAMPLE_HEADS_H

#include "example/slot.h"

/* Never changes once it is made. */
typedef struct heads heads;

#endif
