/* Reads the feature lists of a SequenceExample into sinks. */
#ifndef RECMAP_PARSE_DECODE_READ_LISTS_H
#define RECMAP_PARSE_DECODE_READ_LISTS_H

#include "parse/decode/read_record.h"
#include "parse/example/wire.h"

/* Reads the record's feature lists into row `row` of the sinks, one per slot of plan->lists. `wire`
 * is scratch space for as many entries. The record's context must have been read before. Returns
 * false and fills `fault` on failure; the sinks are then not rolled back. */
bool read_lists(struct sink *sinks, struct wire *wire, const recmap_parser *parser,
                const uint8_t *data, size_t size, size_t row, struct read_fault *fault);

#endif
