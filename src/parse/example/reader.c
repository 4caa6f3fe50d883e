#include "parse/example/reader.h"

#include "base/text/json.h"

enum {
    FEATURES_TAG = 1 << 3 | WIRE_BYTES,
    ENTRY_TAG = 1 << 3 | WIRE_BYTES,
    KEY_TAG = 1 << 3 | WIRE_BYTES,
};

struct example_reader example_reader_begin(const uint8_t *data, size_t size) {
    static const uint8_t nothing[1];
    if (!data) data = nothing;
    struct example_reader reader = {.data = data, .record = {data, data + size}};
    /* libprotobuf counts bytes in an int. */
    if (size > INT32_MAX) wire_fail(&reader.trace, data, "an Example is limited to 2 GiB");
    return reader;
}

/* Names are usually short and ASCII: test eight bytes at a time. The last eight may overlap the
 * others. */
bool example_name_is_utf8(const uint8_t *data, size_t size) {
    uint64_t bits = 0;
    if (size >= 8) {
        for (size_t i = 0; i + 8 < size; i += 8) bits |= load64(data + i);
        bits |= load64(data + size - 8);
    } else if (size >= 4) {
        bits = load32(data) | load32(data + size - 4);
    } else if (size > 0) {
        bits = data[0] | data[size / 2] | data[size - 1];
    }
    return !(bits & UINT64_C(0x8080808080808080)) || utf8_valid(data, size);
}

/* Set field by field: compilers generate much slower code to clear the whole struct. */
static void entry_begin(struct example_entry *entry, const struct wire *body) {
    entry->name = body->at;
    entry->name_size = 0;
    entry->feature.present = true;
    entry->feature.kind = RECMAP_TYPE_NONE;
    entry->feature.count = 0;
    entry->feature.first.at = NULL;
    entry->feature.first.end = NULL;
    entry->feature.entry.at = body->at;
    entry->feature.entry.end = body->end;
    entry->feature.lists_at = NULL;
}

/* Reads an entry in the form that writers use: its name, then its feature. Returns false for any
 * other form. */
static bool read_plain_entry(struct example_entry *entry, const struct wire *body) {
    const uint8_t *start = body->at;
    size_t size = wire_left(body);
    if (size < 4 || start[0] != KEY_TAG || start[1] > 127 || start[1] > size - 4) return false;
    const uint8_t *value = start + 2 + start[1];
    size_t value_size = size - 4 - start[1];
    if (value[0] != EXAMPLE_VALUE_TAG || value[1] != value_size || value_size > 127) return false;
    entry_begin(entry, body);
    entry->name = start + 2;
    entry->name_size = start[1];
    return example_name_is_utf8(start + 2, start[1]) &&
           feature_read_plain(&entry->feature, value + 2, value_size);
}

/* Reads an entry in any form: fields in any order, repeated or unknown. Of several keys the last
 * one counts; several values are merged. */
static bool read_entry(struct example_entry *entry, struct wire body, struct wire_trace *trace) {
    entry_begin(entry, &body);
    while (!wire_done(&body)) {
        uint32_t tag;
        struct wire bytes;
        if (!wire_read_tag(&tag, &body, trace)) return false;
        if (tag == KEY_TAG) {
            if (!wire_read_bytes(&bytes, &body, trace)) return false;
            entry->name = bytes.at;
            entry->name_size = wire_left(&bytes);
            if (!example_name_is_utf8(entry->name, entry->name_size))
                return wire_fail(trace, bytes.at, "feature name is not UTF-8");
        } else if (tag == EXAMPLE_VALUE_TAG) {
            if (!wire_read_bytes(&bytes, &body, trace)) return false;
            if (!feature_merge(&entry->feature, bytes, trace)) return false;
        } else if (!wire_skip(&body, tag, EXAMPLE_ENTRY_DEPTH, trace)) {
            return false;
        }
    }
    return true;
}

/* Reads only the name of an entry and skips its values. */
static bool read_name(struct example_entry *entry, struct wire body, struct wire_trace *trace) {
    entry_begin(entry, &body);
    while (!wire_done(&body)) {
        uint32_t tag;
        struct wire bytes;
        if (!wire_read_tag(&tag, &body, trace)) return false;
        if (tag != KEY_TAG && tag != EXAMPLE_VALUE_TAG) {
            if (!wire_skip(&body, tag, EXAMPLE_ENTRY_DEPTH, trace)) return false;
            continue;
        }
        if (!wire_read_bytes(&bytes, &body, trace)) return false;
        if (tag != KEY_TAG) continue;
        entry->name = bytes.at;
        entry->name_size = wire_left(&bytes);
        if (!example_name_is_utf8(entry->name, entry->name_size))
            return wire_fail(trace, bytes.at, "feature name is not UTF-8");
    }
    return true;
}

/* Reads the values of an entry whose name was read. */
static bool read_values(struct example_entry *entry, struct wire body, struct wire_trace *trace) {
    while (!wire_done(&body)) {
        uint32_t tag;
        struct wire bytes;
        if (!wire_read_tag(&tag, &body, trace)) return false;
        if (tag != EXAMPLE_VALUE_TAG) {
            if (!wire_skip(&body, tag, EXAMPLE_ENTRY_DEPTH, trace)) return false;
            continue;
        }
        if (!wire_read_bytes(&bytes, &body, trace)) return false;
        if (!feature_merge(&entry->feature, bytes, trace)) return false;
    }
    return true;
}

/* Advances to the next Features message, which may contain the next entry. Returns false at the end
 * or on a fault. */
static bool open_features(struct example_reader *reader) {
    while (!wire_done(&reader->record)) {
        uint32_t tag;
        if (!wire_read_tag(&tag, &reader->record, &reader->trace)) return false;
        if (tag != FEATURES_TAG) {
            if (!wire_skip(&reader->record, tag, EXAMPLE_DEPTH, &reader->trace)) return false;
            continue;
        }
        reader->has_features = true;
        return wire_read_bytes(&reader->features, &reader->record, &reader->trace);
    }
    return false;
}

/* Returns the contents of the next entry. Inline, because a pair of pointers that was just stored
 * is slow to load. */
static inline __attribute__((always_inline)) bool next_body(struct wire *contents,
                                                            struct example_reader *reader) {
    if (reader->trace.reason) return false;
    for (;;) {
        while (!wire_done(&reader->features)) {
            uint32_t tag;
            if (!wire_read_tag(&tag, &reader->features, &reader->trace)) return false;
            if (tag == ENTRY_TAG)
                return wire_read_bytes(contents, &reader->features, &reader->trace);
            if (!wire_skip(&reader->features, tag, EXAMPLE_FEATURES_DEPTH, &reader->trace))
                return false;
        }
        if (!open_features(reader)) return false;
    }
}

bool example_reader_next(struct example_entry *entry, struct example_reader *reader) {
    struct wire body;
    return next_body(&body, reader) &&
           (read_plain_entry(entry, &body) || read_entry(entry, body, &reader->trace));
}

bool example_reader_next_requested(struct example_entry *entry, size_t *index,
                                   struct example_reader *reader,
                                   const struct example_names *names) {
    struct wire body;
    while (next_body(&body, reader)) {
        if (!read_name(entry, body, &reader->trace)) break;
        *index = example_names_find(names, entry->name, entry->name_size);
        if (*index != SIZE_MAX) return read_values(entry, body, &reader->trace);
    }
    entry->name = NULL;
    return false;
}

bool example_reader_end(const struct example_reader *reader, struct example_fault *fault) {
    if (!reader->trace.reason) return true;
    if (fault) {
        fault->offset = (size_t)(reader->trace.fault_at - reader->data);
        fault->reason = reader->trace.reason;
    }
    return false;
}
