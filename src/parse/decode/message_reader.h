/* The reading of one message: what its functions share, and storing values in the sinks. */
#ifndef RECMAP_PARSE_DECODE_MESSAGE_READER_H
#define RECMAP_PARSE_DECODE_MESSAGE_READER_H

#include "parse/decode/read_message.h"
#include "parse/example/wire.h"
#include "parse/plan/message_value.h"

struct message_reader {
    const struct message_plan *plan;
    const struct slot *slots;
    struct sink *sinks;
    struct message_state state;
    size_t row;
    const uint8_t *data;     /* the record */
    const uint8_t *value_at; /* the value that is being read */
    struct wire_trace trace;
    struct read_fault *fault;
    bool has_fault; /* `fault` is filled in; otherwise `trace` says what is wrong */
};

/* Each function returns false with a fault. */

/* Adds `count` values to the row, and sets where the first one is in the sink. Their bytes are
 * undefined. */
bool message_append(uint8_t **place, struct message_reader *reader, uint32_t slot, uint64_t count);

/* Stores one number, of which the bits were read, where the target's slot takes it. */
bool message_put(struct message_reader *reader, const struct message_target *target, uint64_t bits);

/* Stores one value of bytes. */
bool message_put_view(struct message_reader *reader, const struct message_target *target,
                      struct wire contents);

/* Stores packed numbers, and counts them. Numbers that a closed enum lacks are left out. */
bool message_put_run(uint64_t *count, struct message_reader *reader,
                     const struct message_target *target, const struct enum_def *closed,
                     struct wire packed);

/* Fills in the fault of a value that the slot's element cannot hold, or of too many values. */
bool message_fail_range(struct message_reader *reader, const struct message_target *target,
                        uint64_t bits);
bool message_fail_count(struct message_reader *reader, uint32_t slot, uint64_t count);

/* Writes an element of a number. Eight bytes are written whatever its size is: what follows it is
 * overwritten later, or belongs to the slack of the buffer. */
static inline void message_store(uint8_t *place, uint64_t word) {
    memcpy(place, &word, sizeof word);
}

static inline void message_store_view(uint8_t *place, recmap_bytes view) {
    memcpy(place, &view, sizeof view);
}

static inline void message_store_fill(uint8_t *place, const struct message_slot *slot) {
    if (slot->is_bytes) message_store_view(place, slot->fill_view);
    else message_store(place, slot->fill);
}

#endif
