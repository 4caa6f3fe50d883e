#include "parse/example/feature.h"

enum {
    BYTES_LIST_TAG = 1 << 3 | WIRE_BYTES,
    FLOAT_LIST_TAG = 2 << 3 | WIRE_BYTES,
    INT64_LIST_TAG = 3 << 3 | WIRE_BYTES,
    /* Fields of a list. Numbers may be packed or not, in any mixture. */
    BYTES_TAG = 1 << 3 | WIRE_BYTES,
    PACKED_TAG = 1 << 3 | WIRE_BYTES,
    FLOAT_TAG = 1 << 3 | WIRE_FIXED32,
    INT64_TAG = 1 << 3 | WIRE_VARINT,
};

static recmap_value int64_value(uint64_t bits) {
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return (recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = value};
}

static recmap_value float_value(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (recmap_value){.type = RECMAP_TYPE_FLOAT, .as.float32 = value};
}

static recmap_value bytes_value(struct wire bytes) {
    return (recmap_value){.type = RECMAP_TYPE_BYTES,
                          .as.bytes = {bytes.at, (size_t)(bytes.end - bytes.at)}};
}

recmap_value example_feature_first(const struct example_feature *feature) {
    struct wire first = feature->first;
    struct wire_trace trace = {0};
    uint64_t bits = 0;
    if (feature->count == 0) return (recmap_value){.type = RECMAP_TYPE_NONE};
    if (feature->kind == RECMAP_TYPE_BYTES) return bytes_value(first);
    if (feature->kind == RECMAP_TYPE_FLOAT) return float_value(load32(first.at));
    wire_read_varint(&bits, &first, &trace);
    return int64_value(bits);
}

/* Adds `count` values; `values` starts at the first one. */
static void add_values(struct example_feature *feature, struct wire values, uint64_t count) {
    if (feature->count == 0) feature->first = values;
    feature->count += count;
}

static bool read_packed_int64(struct example_feature *feature, struct wire packed,
                              struct wire_trace *trace) {
    uint64_t count;
    if (!wire_count_varints(&count, &packed, trace)) return false;
    add_values(feature, packed, count);
    return true;
}

static bool read_packed_float(struct example_feature *feature, struct wire packed,
                              struct wire_trace *trace) {
    size_t size = wire_left(&packed);
    if (size % 4) return wire_fail(trace, packed.at, "packed floats are not 4 bytes each");
    add_values(feature, packed, size / 4);
    return true;
}

/* Accepts packed and unpacked numbers in any mixture, as protobuf does, whatever the schema
 * declares. */
static bool read_int64_list(struct example_feature *feature, struct wire list,
                            struct wire_trace *trace) {
    while (!wire_done(&list)) {
        uint32_t tag;
        uint64_t bits;
        struct wire packed;
        if (!wire_read_tag(&tag, &list, trace)) return false;
        if (tag == PACKED_TAG) {
            if (!wire_read_bytes(&packed, &list, trace)) return false;
            if (!read_packed_int64(feature, packed, trace)) return false;
        } else if (tag == INT64_TAG) {
            const uint8_t *cursor = list.at;
            if (!wire_read_varint(&bits, &list, trace)) return false;
            add_values(feature, (struct wire){cursor, list.at}, 1);
        } else if (!wire_skip(&list, tag, EXAMPLE_LIST_DEPTH, trace)) {
            return false;
        }
    }
    return true;
}

static bool read_float_list(struct example_feature *feature, struct wire list,
                            struct wire_trace *trace) {
    while (!wire_done(&list)) {
        uint32_t tag, bits;
        struct wire packed;
        if (!wire_read_tag(&tag, &list, trace)) return false;
        if (tag == PACKED_TAG) {
            if (!wire_read_bytes(&packed, &list, trace)) return false;
            if (!read_packed_float(feature, packed, trace)) return false;
        } else if (tag == FLOAT_TAG) {
            const uint8_t *cursor = list.at;
            if (!wire_read_fixed32(&bits, &list, trace)) return false;
            add_values(feature, (struct wire){cursor, list.at}, 1);
        } else if (!wire_skip(&list, tag, EXAMPLE_LIST_DEPTH, trace)) {
            return false;
        }
    }
    return true;
}

static bool read_bytes_list(struct example_feature *feature, struct wire list,
                            struct wire_trace *trace) {
    while (!wire_done(&list)) {
        uint32_t tag;
        struct wire bytes;
        if (!wire_read_tag(&tag, &list, trace)) return false;
        if (tag == BYTES_TAG) {
            if (!wire_read_bytes(&bytes, &list, trace)) return false;
            add_values(feature, bytes, 1);
        } else if (!wire_skip(&list, tag, EXAMPLE_LIST_DEPTH, trace)) {
            return false;
        }
    }
    return true;
}

recmap_type feature_kind_of_tag(uint32_t tag) {
    switch (tag) {
    case BYTES_LIST_TAG: return RECMAP_TYPE_BYTES;
    case FLOAT_LIST_TAG: return RECMAP_TYPE_FLOAT;
    case INT64_LIST_TAG: return RECMAP_TYPE_INT64;
    default: return RECMAP_TYPE_NONE;
    }
}

static bool read_list(struct example_feature *feature, struct wire list, struct wire_trace *trace) {
    switch (feature->kind) {
    case RECMAP_TYPE_INT64: return read_int64_list(feature, list, trace);
    case RECMAP_TYPE_FLOAT: return read_float_list(feature, list, trace);
    default: return read_bytes_list(feature, list, trace);
    }
}

bool feature_read_plain(struct example_feature *feature, const uint8_t *body, size_t size) {
    struct wire_trace trace;
    if (size == 0) return true;
    if (size < 2 || body[1] != size - 2) return false;
    recmap_type kind = feature_kind_of_tag(body[0]);
    if (kind == RECMAP_TYPE_NONE) return false;
    feature->kind = kind;
    feature->lists_at = body + 2;
    if (size == 2) return true;
    if (size < 4 || body[2] != PACKED_TAG || body[3] != size - 4) return false;
    feature->first.at = body + 4;
    feature->first.end = body + size;
    feature->count = kind == RECMAP_TYPE_BYTES ? 1 : size / 4 - 1;
    if (kind == RECMAP_TYPE_INT64)
        return wire_count_varints(&feature->count, &feature->first, &trace);
    return kind == RECMAP_TYPE_BYTES || size % 4 == 0;
}

/* Applies protobuf's oneof rule: a list of another kind discards all previous values. lists_at
 * remembers where the current kind starts, so that iterators skip discarded lists. */
bool feature_merge(struct example_feature *feature, struct wire body, struct wire_trace *trace) {
    while (!wire_done(&body)) {
        uint32_t tag;
        struct wire list;
        if (!wire_read_tag(&tag, &body, trace)) return false;
        recmap_type kind = feature_kind_of_tag(tag);
        if (kind == RECMAP_TYPE_NONE) {
            if (!wire_skip(&body, tag, EXAMPLE_FEATURE_DEPTH, trace)) return false;
            continue;
        }
        if (!wire_read_bytes(&list, &body, trace)) return false;
        if (kind != feature->kind) {
            feature->kind = kind;
            feature->count = 0;
            feature->lists_at = list.at;
        }
        if (!read_list(feature, list, trace)) return false;
    }
    return true;
}

struct example_values example_values_begin(const struct example_feature *feature) {
    struct example_values values = {.kind = feature->kind, .lists_at = feature->lists_at};
    if (feature->kind != RECMAP_TYPE_NONE) values.entry = feature->entry;
    return values;
}

static bool next_packed(recmap_value *value, struct example_values *values,
                        struct wire_trace *trace) {
    uint64_t bits;
    uint32_t bits32;
    if (values->kind == RECMAP_TYPE_INT64) {
        if (!wire_read_varint(&bits, &values->packed, trace)) return false;
        *value = int64_value(bits);
    } else {
        if (!wire_read_fixed32(&bits32, &values->packed, trace)) return false;
        *value = float_value(bits32);
    }
    return true;
}

/* Reads one field of the list. Sets `is_found` if it was a value; opens it if it was a packed
 * chunk. */
static bool step_list(recmap_value *value, bool *is_found, struct example_values *values,
                      struct wire_trace *trace) {
    uint32_t tag, bits32;
    uint64_t bits;
    struct wire bytes;
    *is_found = false;
    if (!wire_read_tag(&tag, &values->list, trace)) return false;
    if (values->kind == RECMAP_TYPE_BYTES && tag == BYTES_TAG) {
        if (!wire_read_bytes(&bytes, &values->list, trace)) return false;
        *value = bytes_value(bytes);
    } else if (values->kind == RECMAP_TYPE_INT64 && tag == INT64_TAG) {
        if (!wire_read_varint(&bits, &values->list, trace)) return false;
        *value = int64_value(bits);
    } else if (values->kind == RECMAP_TYPE_FLOAT && tag == FLOAT_TAG) {
        if (!wire_read_fixed32(&bits32, &values->list, trace)) return false;
        *value = float_value(bits32);
    } else if (tag == PACKED_TAG) {
        return wire_read_bytes(&values->packed, &values->list, trace);
    } else {
        return wire_skip(&values->list, tag, EXAMPLE_LIST_DEPTH, trace);
    }
    *is_found = true;
    return true;
}

/* Reads one field of the feature or, at its end, of the entry, and opens it if it leads to values.
 */
static bool step_out(struct example_values *values, struct wire_trace *trace) {
    uint32_t tag;
    struct wire list;
    if (wire_done(&values->body)) {
        if (!wire_read_tag(&tag, &values->entry, trace)) return false;
        if (tag == EXAMPLE_VALUE_TAG) return wire_read_bytes(&values->body, &values->entry, trace);
        return wire_skip(&values->entry, tag, EXAMPLE_ENTRY_DEPTH, trace);
    }
    if (!wire_read_tag(&tag, &values->body, trace)) return false;
    if (feature_kind_of_tag(tag) == RECMAP_TYPE_NONE)
        return wire_skip(&values->body, tag, EXAMPLE_FEATURE_DEPTH, trace);
    if (!wire_read_bytes(&list, &values->body, trace)) return false;
    if (list.at >= values->lists_at) values->list = list;
    return true;
}

bool example_values_next(recmap_value *value, struct example_values *values) {
    struct wire_trace trace = {0};
    bool found = false;
    for (;;) {
        if (!wire_done(&values->packed)) return next_packed(value, values, &trace);
        if (!wire_done(&values->list)) {
            if (!step_list(value, &found, values, &trace)) return false;
            if (found) return true;
        } else if (wire_done(&values->body) && wire_done(&values->entry)) {
            return false;
        } else if (!step_out(values, &trace)) {
            return false;
        }
    }
}
