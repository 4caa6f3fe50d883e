/* Reading the feature lists of a SequenceExample into sinks. */
#ifndef RECMAP_DECODE_READ_LISTS_H
#define RECMAP_DECODE_READ_LISTS_H

#include "decode/read_record.h"
#include "example/wire.h"

/* Reads what the record has of plan->lists into row `row` of the sinks, one a slot of them. `found`
 * has room for as many. The record's context was read. False with `fault` filled; the sinks are
 * then not rolled back. */
bool read_lists(struct sink *sinks, struct wire *wire, const recmap_parser *plan,
                const uint8_t *data, size_t size, size_t row, struct read_fault *fault);

#endif
