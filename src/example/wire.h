/* The protobuf wire: tags, varints, lengths, fixed widths and groups, read out of bounded bytes as
 * strictly as libprotobuf reads them. Nothing is allocated, nothing outside the bounds is touched,
 * and every byte is looked at once. */
#ifndef RECMAP_EXAMPLE_WIRE_H
#define RECMAP_EXAMPLE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* What is left to read of a message. */
struct wire {
    const uint8_t *at;
    const uint8_t *end;
};

/* What reading leaves behind: the first fault (`reason` is NULL without one), and whether fields
 * were passed over that the reader does not know. */
struct wire_trace {
    const uint8_t *fault_at; /* the byte at which reading stopped */
    const char *reason;      /* a static string */
    bool saw_unknown;
    unsigned deeper; /* how much deeper than its depth the message lies that is read: a Feature in a
                        feature list is one level below one in a map */
};

typedef enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,
    WIRE_GROUP_END = 4,
    WIRE_FIXED32 = 5,
} wire_type;

/* Messages and groups may nest this deep below the outermost message, as in libprotobuf. */
enum { WIRE_DEPTH_LIMIT = 100 };

static inline size_t wire_left(const struct wire *wire) {
    return (size_t)(wire->end - wire->at);
}

static inline bool wire_done(const struct wire *wire) {
    return wire->at == wire->end;
}

/* Notes the fault; returns false. */
bool wire_fail(struct wire_trace *trace, const uint8_t *bytes, const char *reason);

/* The rare part of the readers below: more than one byte, or a fault. */
bool wire_read_varint_long(uint64_t *value, struct wire *wire, struct wire_trace *trace);
bool wire_read_tag_long(uint32_t *tag, struct wire *wire, struct wire_trace *trace);
bool wire_read_bytes_long(struct wire *bytes, struct wire *wire, struct wire_trace *trace);

/* A varint of at most ten bytes; what a tenth byte holds beyond 64 bits is dropped. */
static inline bool wire_read_varint(uint64_t *value, struct wire *wire, struct wire_trace *trace) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        *value = *wire->at++;
        return true;
    }
    return wire_read_varint_long(value, wire, trace);
}

/* A tag: field number * 8 + wire type, as a varint of at most five bytes; what a fifth holds beyond
 * 32 bits is dropped. Whether number and type are legal is left to wire_skip: what a message knows
 * is legal. */
static inline bool wire_read_tag(uint32_t *tag, struct wire *wire, struct wire_trace *trace) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        *tag = *wire->at++;
        return true;
    }
    return wire_read_tag_long(tag, wire, trace);
}

/* A length of at most five bytes, and so many bytes. */
static inline bool wire_read_bytes(struct wire *bytes, struct wire *wire,
                                   struct wire_trace *trace) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        const uint8_t *begin = wire->at + 1;
        size_t size = *wire->at;
        if (size <= (size_t)(wire->end - begin)) {
            *bytes = (struct wire){begin, begin + size};
            wire->at = begin + size;
            return true;
        }
    }
    return wire_read_bytes_long(bytes, wire, trace);
}

bool wire_read_fixed32(uint32_t *value, struct wire *wire, struct wire_trace *trace);

/* Passes over the field whose tag was just read, and notes that it was unknown. `depth` is how deep
 * the message that holds it lies: 0 is the outermost. */
bool wire_skip(struct wire *wire, uint32_t tag, unsigned depth, struct wire_trace *trace);

/* Checks that varints, one behind the other, fill the bytes, and counts them. */
bool wire_count_varints(uint64_t *count, const struct wire *packed, struct wire_trace *trace);

#endif
