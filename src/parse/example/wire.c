#include "parse/example/wire.h"

#include "parse/varints/count_varints.h"

/* Shorter runs of varints are counted eight bytes at a time. */
enum { COUNT_BLOCKS_MIN = 64 };

bool wire_fail(struct wire_trace *trace, const uint8_t *bytes, const char *reason) {
    trace->fault_at = bytes;
    trace->reason = reason;
    return false;
}

/* Decodes 7 bits per byte. Returns the number of bytes, or 0 if none of the first `max` ends the
 * varint. */
static size_t decode(uint64_t *value, const struct wire *wire, size_t max) {
    uint64_t result = 0;
    if (max > wire_left(wire)) max = wire_left(wire);
    for (size_t i = 0; i < max; i++) {
        result |= (uint64_t)(wire->at[i] & 0x7f) << (7 * i);
        if (wire->at[i] < 0x80) {
            *value = result;
            return i + 1;
        }
    }
    return 0;
}

/* Reads a varint of at most `max` bytes. `cut` and `longer` are the faults if it is incomplete or
 * longer. */
static inline bool take(uint64_t *value, struct wire *wire, size_t max, const char *cut,
                        const char *longer, struct wire_trace *trace) {
    size_t size = decode(value, wire, max);
    if (!size) return wire_fail(trace, wire->at, wire_left(wire) < max ? cut : longer);
    wire->at += size;
    return true;
}

bool wire_read_varint_long(uint64_t *value, struct wire *wire, struct wire_trace *trace) {
    return take(value, wire, 10, "varint runs past the end", "varint is longer than ten bytes",
                trace);
}

bool wire_read_tag_long(uint32_t *tag, struct wire *wire, struct wire_trace *trace) {
    uint64_t value;
    if (!take(&value, wire, 5, "tag runs past the end", "tag is longer than five bytes", trace))
        return false;
    *tag = (uint32_t)value;
    return true;
}

bool wire_read_bytes_long(struct wire *contents, struct wire *wire, struct wire_trace *trace) {
    const uint8_t *start = wire->at;
    uint64_t length;
    if (!take(&length, wire, 5, "length runs past the end", "length is longer than five bytes",
              trace))
        return false;
    if (length > wire_left(wire)) return wire_fail(trace, start, "length reaches past the end");
    *contents = (struct wire){wire->at, wire->at + length};
    wire->at = contents->end;
    return true;
}

static bool advance(struct wire *wire, size_t size, struct wire_trace *trace) {
    if (size > wire_left(wire)) return wire_fail(trace, wire->at, "number runs past the end");
    wire->at += size;
    return true;
}

bool wire_read_fixed32(uint32_t *value, struct wire *wire, struct wire_trace *trace) {
    const uint8_t *start = wire->at;
    if (!advance(wire, 4, trace)) return false;
    *value = load32(start);
    return true;
}

/* Skips a field that is not a group. */
static bool skip_plain(struct wire *wire, uint32_t tag, struct wire_trace *trace) {
    uint64_t value;
    struct wire bytes;
    switch (tag & 7) {
    case WIRE_VARINT: return wire_read_varint(&value, wire, trace);
    case WIRE_FIXED64: return advance(wire, 8, trace);
    case WIRE_BYTES: return wire_read_bytes(&bytes, wire, trace);
    case WIRE_FIXED32: return advance(wire, 4, trace);
    default: return wire_fail(trace, wire->at - 1, "no such wire type");
    }
}

/* Groups are skipped without recursion; the stack `open` remembers which end tag must come next. */
bool wire_skip(struct wire *wire, uint32_t tag, unsigned depth, struct wire_trace *trace) {
    uint32_t open[WIRE_DEPTH_LIMIT];
    unsigned open_count = 0;
    trace->saw_unknown = true;
    for (;;) {
        const uint8_t *start = wire->at - 1;
        if (tag >> 3 == 0) return wire_fail(trace, start, "field number is 0");
        if ((tag & 7) == WIRE_GROUP) {
            if (depth + trace->deeper + open_count >= WIRE_DEPTH_LIMIT)
                return wire_fail(trace, start, "groups are nested too deep");
            open[open_count++] = tag;
        } else if ((tag & 7) == WIRE_GROUP_END) {
            if (open_count == 0 || open[open_count - 1] != tag - 1)
                return wire_fail(trace, start, "group end without a group");
            open_count--;
        } else if (!skip_plain(wire, tag, trace)) {
            return false;
        }
        if (open_count == 0) return true;
        if (wire_done(wire)) return wire_fail(trace, wire->at, "group does not end");
        if (!wire_read_tag(&tag, wire, trace)) return false;
    }
}

/* Returns how many of eight bytes have their top bit set. `bits` must contain only these bits. */
static unsigned count_marked(uint64_t bits) {
    return (unsigned)((bits >> 7) * UINT64_C(0x0101010101010101) >> 56);
}

/* Loads 1 to 7 bytes like load64, padded with zeros. */
static uint64_t load_few(const uint8_t *bytes, size_t size) {
    if (size >= 4) return load32(bytes) | (uint64_t)load32(bytes + size - 4) << (8 * size - 32);
    return bytes[0] | (uint64_t)bytes[size / 2] << (8 * (size / 2)) |
           (uint64_t)bytes[size - 1] << (8 * size - 8);
}

/* Every varint ends with its only byte whose top bit is clear, and ten bytes in a row with the top
 * bit set are malformed. So runs are checked without decoding: long ones in blocks, and what is
 * left eight bytes at a time. */
bool wire_count_varints(uint64_t *count, const struct wire *wire, struct wire_trace *trace) {
    static const char too_long[] = "varint is longer than ten bytes";
    const uint64_t marks = UINT64_C(0x8080808080808080);
    struct varint_count found = {0, 0};
    const uint8_t *cursor = wire->at;
    if (wire_left(wire) >= COUNT_BLOCKS_MIN)
        cursor += varint_count_blocks(&found, cursor, wire_left(wire));
    for (; wire->end - cursor >= 8; cursor += 8) {
        uint64_t last = ~load64(cursor) & marks;
        unsigned head = last ? (unsigned)__builtin_ctzll(last) >> 3 : 8;
        if (found.begun + head >= 10) return wire_fail(trace, cursor - found.begun, too_long);
        found.begun = last ? (unsigned)__builtin_clzll(last) >> 3 : found.begun + 8;
        found.ended += count_marked(last);
    }
    size_t left = (size_t)(wire->end - cursor);
    if (left > 0) {
        /* Count the missing bytes as ends, then remove them. */
        uint64_t last = ~load_few(cursor, left) & marks;
        unsigned head = (unsigned)__builtin_ctzll(last) >> 3;
        if (found.begun + head >= 10) return wire_fail(trace, cursor - found.begun, too_long);
        last <<= 8 * (8 - left);
        found.begun = last ? (unsigned)__builtin_clzll(last) >> 3 : found.begun + (unsigned)left;
        found.ended += count_marked(last);
    }
    if (found.begun) return wire_fail(trace, wire->end - found.begun, "varint runs past the end");
    *count = found.ended;
    return true;
}
