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

/* Adds `count` values to the row, and sets the index of the first one in the sink. Their bytes are
 * undefined. */
bool message_append_many(uint64_t *index, struct message_reader *reader, uint32_t slot,
                         uint64_t count);

/* Stores one number, of which the bits were read, where the target's slot wants it. */
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

/* Adds one value to the row. */
static inline bool message_append(uint64_t *index, struct message_reader *reader, uint32_t slot) {
    const struct message_slot *how = &reader->plan->slots[slot];
    struct sink *sink = &reader->sinks[slot];
    uint64_t next = sink->value_count;
    if (how->is_fixed || (next + 1) * how->size > sink->values.capacity)
        return message_append_many(index, reader, slot, 1);
    *index = next;
    sink->value_count = next + 1;
    return true;
}

/* Writes an element. Eight bytes are written whatever its size is: what follows it is overwritten
 * later, or belongs to the slack of the buffer. */
static inline void message_store(struct message_reader *reader, uint32_t slot, uint64_t index,
                                 uint64_t word) {
    const struct message_slot *how = &reader->plan->slots[slot];
    memcpy(reader->sinks[slot].values.data + index * how->size, &word, sizeof word);
}

static inline void message_store_view(struct message_reader *reader, uint32_t slot, uint64_t index,
                                      recmap_bytes view) {
    memcpy(reader->sinks[slot].values.data + index * sizeof view, &view, sizeof view);
}

/* Gives a slot's current single value its default. */
static inline void message_store_fill(struct message_reader *reader, uint32_t slot) {
    const struct message_slot *how = &reader->plan->slots[slot];
    uint64_t index = reader->state.places[slot];
    if (how->is_bytes) message_store_view(reader, slot, index, how->fill_view);
    else message_store(reader, slot, index, how->fill);
}

/* Finds where a value goes: the place of a single value, or a new one. */
static inline bool message_find_place(uint64_t *index, struct message_reader *reader,
                                      uint32_t slot) {
    *index = reader->state.places[slot];
    switch (reader->plan->slots[slot].place) {
    case PLACE_SINGLE: return true;
    case PLACE_OPTIONAL:
        if (*index != UINT64_MAX) return true;
        if (!message_append(index, reader, slot)) return false;
        reader->state.places[slot] = *index;
        return true;
    default: return message_append(index, reader, slot);
    }
}

#endif
