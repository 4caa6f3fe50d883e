/* Reading one record into the sinks of a plan.
 *
 * Two ways lead to one result. The fast one takes records in the shapes that writers make; at
 * anything else, good or bad, it gives up before it has said anything. The slow one takes any bytes
 * and says what is wrong with them. */
#ifndef RECMAP_DECODE_READ_RECORD_H
#define RECMAP_DECODE_READ_RECORD_H

#include "decode/read_fault.h"
#include "plan/plan.h"

/* What is learnt from record to record, and memory that is used again: one for each thread that
 * parses. All zeros is a new one. */
struct read_scratch;
struct read_scratch *read_scratch_create(void); /* NULL when memory is out */
void read_scratch_destroy(struct read_scratch *scratch);

/* Reads the features of a record (of a SequenceExample: its context; read_lists.h, which the parser
 * calls next, reads the rest) into row `row` of the sinks, one a slot of plan->features. Rows below
 * were read before. The sinks have room for fixed counts and row offsets of this row; they grow as
 * needed for the rest. False with `fault` filled; the sinks' rows are then as they were before
 * (what lies behind them is undefined). */
bool read_record(struct sink *sinks, struct read_scratch *scratch, const recmap_parser *plan,
                 const uint8_t *data, size_t size, size_t row, struct read_fault *fault);

/* Takes row `row` back, the last one that was read, in every sink: of features, then of lists. */
void read_roll_back(struct sink *sinks, const recmap_parser *plan, size_t row);

/* Gives row `row` of every sink, of features and then of lists, a null: zeros, no values, or an
 * empty view. */
void read_nothing(struct sink *sinks, const recmap_parser *plan, size_t row);

/* Asks for the first bytes of a record that will be read soon. */
void read_prefetch(const uint8_t *data, size_t size);

#endif
