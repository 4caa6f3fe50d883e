#include "slices/find.h"

#include <string.h>

#include "decode/read_paths.h"
#include "example/reader.h"

enum { FEATURES_TAG = 1 << 3 | WIRE_BYTES, ENTRY_TAG = FEATURES_TAG, VALUE_TAG = FEATURES_TAG };

/* Opens a field that is all that is left. */
static bool open_only(struct wire *body, struct wire left) {
    struct wire_trace trace;
    uint32_t tag;
    return wire_read_tag(&tag, &left, &trace) && tag == FEATURES_TAG &&
           wire_read_bytes(body, &left, &trace) && wire_done(&left);
}

static bool is_named(const struct slot *slot, const struct wire *key) {
    return wire_left(key) == slot->name_size && !memcmp(key->at, slot->name, slot->name_size);
}

/* Finds the values of an entry whose name is the slot's. A feature without values is absent. */
static bool open_values(struct slice_span *span, const struct slot *slot, struct wire value) {
    struct wire list, values;
    if (span->is_found) return false; /* the name occurs twice */
    if (wire_done(&value)) return true;
    if (!read_entry_open_list(&list, slot->list, value)) return false;
    bool is_whole = slot->list == RECMAP_TYPE_BYTES && !slot->raw;
    if (is_whole || wire_done(&list)) values = list;
    else if (!open_only(&values, list)) return false;
    *span = (struct slice_span){true, values.at, wire_left(&values)};
    return !slot->raw || !wire_done(&list);
}

static bool take_entry(struct slice_span *spans, const recmap_parser *parser, const uint8_t *bytes,
                       const uint8_t *end) {
    struct wire key, value;
    bool is_named_alone = false;
    if (!read_entry_open(&key, &value, bytes, end)) return false;
    for (size_t i = 0; i < parser->slice_count; i++) {
        if (!is_named(&parser->slices[i].slot, &key)) continue;
        if (!open_values(&spans[i], &parser->slices[i].slot, value)) return false;
        is_named_alone = true;
    }
    return is_named_alone || example_name_is_utf8(key.at, wire_left(&key));
}

bool slice_find(struct slice_span *spans, const recmap_parser *parser,
                const recmap_record *record) {
    struct wire_trace trace;
    struct wire features, entry;
    if (parser->is_sequence ||
        !open_only(&features, (struct wire){record->data, record->data + record->size}))
        return false;
    memset(spans, 0, parser->slice_count * sizeof *spans);
    while (!wire_done(&features)) {
        const uint8_t *bytes = features.at;
        uint32_t tag;
        if (!wire_read_tag(&tag, &features, &trace) || tag != ENTRY_TAG ||
            !wire_read_bytes(&entry, &features, &trace) ||
            !take_entry(spans, parser, bytes, features.at))
            return false;
    }
    return true;
}
