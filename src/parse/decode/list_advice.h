/* Advice for features of another kind than requested. */
#ifndef RECMAP_PARSE_DECODE_LIST_ADVICE_H
#define RECMAP_PARSE_DECODE_LIST_ADVICE_H

#include "parse/decode/read_fault.h"
#include "parse/example/feature.h"
#include "parse/plan/slot.h"

/* Adds to the fault what to request for a feature of another kind than the slot's. Code is written
 * between backticks and in C; bindings translate it. */
void list_advise(struct read_fault *fault, const struct slot *slot,
                 const struct example_feature *feature);

/* The same for the single bytes value of a raw slot whose size does not fit the slot's elements:
 * what the bytes are, or which element types have this size. */
void list_advise_size(struct read_fault *fault, const struct slot *slot,
                      const struct example_feature *feature);

#endif
