/* Decoding the values of one feature into a sink, in pieces, as they lie in the record.
 *
 *     list_decoder decoder = list_begin(sink, slot, at);
 *     list_int64s(&decoder, data, size) && ...
 *     list_is_whole(&decoder)
 *
 * The sink's values grow as needed; its counts and offsets are left to the caller. */
#ifndef RECMAP_DECODE_LIST_DECODE_H
#define RECMAP_DECODE_LIST_DECODE_H

#include "decode/read_fault.h"
#include "example/feature.h"
#include "plan/slot.h"

typedef enum list_trouble {
    LIST_FINE = 0,
    LIST_MALFORMED, /* no such list; or more values than fit into the row */
    LIST_RANGE,     /* a value that the element cannot hold */
    LIST_MEMORY,
} list_trouble;

struct list_decoder {
    struct sink *sink;
    const struct slot *slot;
    uint64_t at;     /* in the sink's values, of the next element */
    uint64_t count;  /* elements decoded */
    uint64_t room;   /* elements that still fit; UINT64_MAX where their number is not fixed */
    uint64_t pieces; /* bytes values seen */
    list_trouble trouble;
    const uint8_t *bad_at; /* LIST_RANGE: the value in the record, */
    uint64_t bad_index;    /* which one of the feature's elements it is, from 0, */
    recmap_value bad;      /* and what it is; of type NONE in raw bytes */
};

/* Elements go to the sink's values from index `at` on. */
static inline struct list_decoder list_begin(struct sink *sink, const struct slot *slot,
                                             uint64_t at) {
    return (struct list_decoder){
        .sink = sink, .slot = slot, .at = at, .room = slot->count ? slot->count : UINT64_MAX};
}

/* Each decodes what is of the slot's list: a run of packed values, one bytes value, or all fields
 * of a list. False with `trouble` set. */
bool list_int64s(struct list_decoder *decoder, const uint8_t *data, size_t size);
bool list_floats(struct list_decoder *decoder, const uint8_t *data, size_t size);
bool list_bytes(struct list_decoder *decoder, const uint8_t *data, size_t size);
bool list_run(struct list_decoder *decoder, const uint8_t *data,
              size_t size); /* any one of these */
bool list_fields(struct list_decoder *decoder, struct wire list);

/* Whether there are as many elements as the slot asks for. */
bool list_is_whole(const struct list_decoder *decoder);

/* Decodes a feature that was read without a fault out of the record `data`, and that has a kind,
 * and returns the number of its elements. False with `fault` filled when it is not as the slot
 * asks: of another kind, of another count, ... `step` is the step of a feature list, whose
 * `entry` is the message Feature itself; SIZE_MAX where there is none. */
bool list_read(uint64_t *count, struct sink *sink, const struct slot *slot, uint64_t at,
               const struct example_feature *feature, const uint8_t *data, size_t step,
               struct read_fault *fault);

#endif
