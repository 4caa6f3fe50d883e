/* The protobuf wire format: tags, varints, lengths, fixed-width numbers and groups, read from
 * bounded bytes as strictly as libprotobuf does. Allocates nothing, touches nothing out of bounds
 * and looks at every byte once. */
#ifndef RECMAP_PARSE_EXAMPLE_WIRE_H
#define RECMAP_PARSE_EXAMPLE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/bytes.h"

/* What is left to read of a message. */
struct wire {
    const uint8_t *at;
    const uint8_t *end;
};

/* The outcome of reading: the first fault (`reason` is NULL if there is none), and whether unknown
 * fields were skipped. */
struct wire_trace {
    const uint8_t *fault_at; /* the byte at which reading stopped */
    const char *reason;      /* a static string */
    bool saw_unknown;
    unsigned deeper; /* added to the depth of the message being read: a Feature in a feature list is
                        one level deeper than one in a map */
};

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,
    WIRE_GROUP_END = 4,
    WIRE_FIXED32 = 5,
};

/* The nesting limit for messages and groups below the outermost message, as in libprotobuf. */
enum { WIRE_DEPTH_LIMIT = 100 };

static inline size_t wire_left(const struct wire *wire) {
    return (size_t)(wire->end - wire->at);
}

static inline bool wire_done(const struct wire *wire) {
    return wire->at == wire->end;
}

/* Records the fault. Returns false. */
bool wire_fail(struct wire_trace *trace, const uint8_t *bytes, const char *reason);

/* The rare cases of the readers below: more than one byte, or a fault. */
bool wire_read_varint_long(uint64_t *value, struct wire *wire, struct wire_trace *trace);
bool wire_read_tag_long(uint32_t *tag, struct wire *wire, struct wire_trace *trace);
bool wire_read_bytes_long(struct wire *contents, struct wire *wire, struct wire_trace *trace);

/* Reads a varint of at most ten bytes. Bits above 64 in the tenth byte are ignored. */
static inline bool wire_read_varint(uint64_t *value, struct wire *wire, struct wire_trace *trace) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        *value = *wire->at++;
        return true;
    }
    return wire_read_varint_long(value, wire, trace);
}

/* Reads a tag, which is field number * 8 + wire type, as a varint of at most five bytes. Bits above
 * 32 in the fifth byte are ignored. wire_skip checks whether number and type are valid; a field
 * that the message knows needs no such check. */
static inline bool wire_read_tag(uint32_t *tag, struct wire *wire, struct wire_trace *trace) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        *tag = *wire->at++;
        return true;
    }
    return wire_read_tag_long(tag, wire, trace);
}

/* Reads a length of at most five bytes and that many bytes. */
static inline bool wire_read_bytes(struct wire *contents, struct wire *wire,
                                   struct wire_trace *trace) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        const uint8_t *begin = wire->at + 1;
        size_t size = *wire->at;
        if (size <= (size_t)(wire->end - begin)) {
            *contents = (struct wire){begin, begin + size};
            wire->at = begin + size;
            return true;
        }
    }
    return wire_read_bytes_long(contents, wire, trace);
}

bool wire_read_fixed32(uint32_t *value, struct wire *wire, struct wire_trace *trace);

/* Skips the field whose tag was just read and records that it was unknown. `depth` is the nesting
 * depth of the message that contains it; the outermost message has depth 0. */
bool wire_skip(struct wire *wire, uint32_t tag, unsigned depth, struct wire_trace *trace);

/* Checks that the bytes are consecutive varints, and counts them. */
bool wire_count_varints(uint64_t *count, const struct wire *wire, struct wire_trace *trace);

#endif
