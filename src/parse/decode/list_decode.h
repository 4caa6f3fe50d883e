/* Decodes the values of one feature into a sink, piece by piece, as they are stored in the record.
 *
 *     struct list_decoder decoder = list_begin(sink, slot, index);
 *     list_int64s(&decoder, data, size) && ...
 *     list_is_whole(&decoder)
 *
 * The sink's values grow as needed. Its counts and offsets are left to the caller. */
#ifndef RECMAP_PARSE_DECODE_LIST_DECODE_H
#define RECMAP_PARSE_DECODE_LIST_DECODE_H

#include "parse/decode/read_fault.h"
#include "parse/example/feature.h"
#include "parse/plan/slot.h"

enum list_trouble {
    LIST_FINE = 0,
    LIST_MALFORMED, /* not a list of this kind, or more values than the row holds */
    LIST_RANGE,     /* a value that the element type cannot hold */
    LIST_SIZE,      /* a raw value whose size does not fit */
    LIST_ZLIB,      /* a raw value that is not a ZLIB stream */
    LIST_MEMORY,
};

struct list_decoder {
    struct sink *sink;
    const struct slot *slot;
    uint64_t at;     /* index of the next element in the sink's values */
    uint64_t count;  /* elements decoded so far */
    uint64_t room;   /* elements that still fit, or UINT64_MAX if their number is not fixed */
    uint64_t pieces; /* bytes values decoded so far */
    uint64_t piece;  /* raw: the elements of each */
    enum list_trouble trouble;
    const uint8_t *bad_at; /* the address in the record of a value of LIST_RANGE, _SIZE or _ZLIB, */
    uint64_t bad_index;    /* its index among the feature's elements, or if raw, its values, */
    recmap_value bad;      /* LIST_RANGE: the value itself; its type is NONE for raw bytes */
    size_t bad_size;       /* LIST_SIZE: its bytes, inflated if they are a ZLIB stream */
    const char *bad_reason; /* LIST_ZLIB: what is wrong with the stream, a static string */
};

/* Starts decoding into the sink's values from index `at` on. */
static inline struct list_decoder list_begin(struct sink *sink, const struct slot *slot,
                                             uint64_t at) {
    return (struct list_decoder){
        .sink = sink, .slot = slot, .at = at, .room = slot->count ? slot->count : UINT64_MAX};
}

/* Each function decodes one piece of the slot's list: a run of packed values, a single bytes value,
 * or all fields of a list. Returns false and sets `trouble` on failure. */
bool list_int64s(struct list_decoder *decoder, const uint8_t *data, size_t size);
bool list_floats(struct list_decoder *decoder, const uint8_t *data, size_t size);
bool list_bytes(struct list_decoder *decoder, const uint8_t *data, size_t size);
bool list_run(struct list_decoder *decoder, const uint8_t *data,
              size_t size); /* calls the one above that fits the slot */
bool list_fields(struct list_decoder *decoder, struct wire list);

/* Returns whether the number of elements is what the slot requires. */
bool list_is_whole(const struct list_decoder *decoder);

/* Decodes a well-formed feature of the record `data`; its kind must not be NONE. Sets `count` to
 * the number of elements. Returns false and fills `fault` if the feature does not match the slot
 * (another kind, another count and so on). `step` is the index of a feature list's step, whose
 * `entry` is the Feature message itself, or SIZE_MAX for a plain feature. */
bool list_read(uint64_t *count, struct sink *sink, const struct slot *slot, uint64_t at,
               const struct example_feature *feature, const uint8_t *data, size_t step,
               struct read_fault *fault);

#endif
