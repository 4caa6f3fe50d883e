/* Advice for features of another kind than requested. */
#ifndef RECMAP_DECODE_LIST_ADVICE_H
#define RECMAP_DECODE_LIST_ADVICE_H

#include "decode/read_fault.h"
#include "example/feature.h"
#include "plan/slot.h"

/* Adds to the fault what to request for a feature of another kind than the slot's. Code is written
 * between backticks and in C; bindings translate it. */
void list_advise(struct read_fault *fault, const struct slot *slot,
                 const struct example_feature *feature);

/* The same for the single bytes value of a raw slot whose size is not that of the slot's elements:
 * what the bytes are, or which element types have this size. */
void list_advise_size(struct read_fault *fault, const struct slot *slot,
                      const struct example_feature *feature);

#endif
