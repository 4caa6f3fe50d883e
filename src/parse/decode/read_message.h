/* Reads a message of any type into the sinks of a plan. */
#ifndef RECMAP_PARSE_DECODE_READ_MESSAGE_H
#define RECMAP_PARSE_DECODE_READ_MESSAGE_H

#include "parse/decode/read_fault.h"
#include "parse/plan/message_plan.h"

/* What is remembered of each slot while one record is read. */
struct message_state {
    uint8_t **places;    /* its current single value in the sink, or NULL */
    uint64_t *taken;     /* values of this row, if their number is fixed */
    uint64_t *marks;     /* one for each mark of the plan */
    recmap_bytes *later; /* the bytes of PLACE_LATER; {NULL} if there are none yet */
};

/* Creates a reader of messages for the features of a compiled parser, as message_plan_create does.
 */
recmap_status message_reader_create(struct record_reader **reader, recmap_parser *parser,
                                    recmap_message_type *type, recmap_error *error);

/* Reads one record into row `row` of the sinks, as the reader of the parser does, which is one of
 * messages. On failure the sinks are not rolled back. */
bool read_message(struct sink *sinks, struct message_state *state, const recmap_parser *parser,
                  const uint8_t *data, size_t size, size_t row, struct read_fault *fault);

#endif
