/* Reads one record into the sinks of a plan.
 *
 * Two paths give the same result. The fast path handles records as writers encode them and stops
 * without a verdict on everything else, valid or not. The slow path handles all bytes and reports
 * what is wrong with them. */
#ifndef RECMAP_PARSE_DECODE_READ_RECORD_H
#define RECMAP_PARSE_DECODE_READ_RECORD_H

#include "parse/decode/read_fault.h"
#include "parse/plan/plan.h"

/* What was learned from earlier records, and reusable memory. Every thread that parses has its own.
 */
struct read_scratch;
struct read_scratch *read_scratch_create(void); /* NULL if memory runs out */
void read_scratch_destroy(struct read_scratch *scratch);

/* Reads the features of a record into row `row` of the sinks, one per slot of plan->features. For a
 * SequenceExample it reads the context; read_lists reads the rest. Rows must be read in order. The
 * sinks need room for fixed counts and for the offsets of this row; everything else grows as
 * needed. Returns false and fills `fault` on failure: the sinks' rows are then unchanged, but their
 * bytes past the last row are undefined. */
bool read_record(struct sink *sinks, struct read_scratch *scratch, const recmap_parser *parser,
                 const uint8_t *data, size_t size, size_t row, struct read_fault *fault);

/* Removes row `row`, the last one, from every sink: first features, then feature lists. */
void read_roll_back(struct sink *sinks, const recmap_parser *parser, size_t row);

/* Makes row `row` null in every sink, first features, then feature lists: zeros, no values or empty
 * views. */
void read_nothing(struct sink *sinks, const recmap_parser *parser, size_t row);

/* Prefetches the start of a record that will be read soon. */
void read_prefetch(const uint8_t *data, size_t size);

#endif
