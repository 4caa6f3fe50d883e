#include "loader/slices/find.h"

#include <string.h>

#include "parse/decode/read_paths.h"
#include "parse/example/reader.h"
#include "parse/example/sequence_wire.h"

enum { FEATURES_TAG = 1 << 3 | WIRE_BYTES, ENTRY_TAG = FEATURES_TAG, VALUE_TAG = FEATURES_TAG };

/* Opens a field that must be the only one. */
static bool open_only(struct wire *contents, struct wire wire) {
    struct wire_trace trace;
    uint32_t tag;
    return wire_read_tag(&tag, &wire, &trace) && tag == FEATURES_TAG &&
           wire_read_bytes(contents, &wire, &trace) && wire_done(&wire);
}

static bool is_named(const struct slot *slot, const struct wire *key) {
    return wire_left(key) == slot->name_size && !memcmp(key->at, slot->name, slot->name_size);
}

/* Finds the values of an entry whose name is the slot's: the steps of a feature list, or the values
 * of a feature. A feature without values is absent. Raw values must be one, and not compressed, so
 * that parts of it can be found by their size. */
static bool open_values(struct slice_span *span, const struct slot *slot, struct wire value) {
    struct wire list, values;
    if (span->is_found) return false; /* the name occurs twice */
    if (slot->raw_zlib) return false;
    if (slot->is_list) {
        *span = (struct slice_span){true, value.at, wire_left(&value)};
        return true;
    }
    if (wire_done(&value)) return true;
    if (!read_entry_open_list(&list, slot->list, value)) return false;
    bool is_whole = slot->list == RECMAP_TYPE_BYTES && !slot->raw;
    if (is_whole || wire_done(&list)) values = list;
    else if (!open_only(&values, list)) return false;
    *span = (struct slice_span){true, values.at, wire_left(&values)};
    return !slot->raw || !wire_done(&list);
}

/* A map of names: the features of an Example or of a context, or the feature lists. */
struct name_map {
    struct slice_span *spans; /* of all slices of the parser */
    const recmap_parser *parser;
    bool has_lists; /* only slices of feature lists are in it, otherwise only others */
};

static bool take_entry(const struct name_map *map, const uint8_t *bytes, const uint8_t *end) {
    struct wire key, value;
    bool is_named_alone = false;
    if (!read_entry_open(&key, &value, bytes, end)) return false;
    for (size_t i = 0; i < map->parser->slice_count; i++) {
        const struct slot *slot = &map->parser->slices[i].slot;
        if (slot->is_list != map->has_lists || !is_named(slot, &key)) continue;
        if (!open_values(&map->spans[i], slot, value)) return false;
        is_named_alone = true;
    }
    return is_named_alone || example_name_is_utf8(key.at, wire_left(&key));
}

static bool take_entries(const struct name_map *map, struct wire entries) {
    struct wire_trace trace;
    struct wire entry;
    while (!wire_done(&entries)) {
        const uint8_t *bytes = entries.at;
        uint32_t tag;
        if (!wire_read_tag(&tag, &entries, &trace) || tag != ENTRY_TAG ||
            !wire_read_bytes(&entry, &entries, &trace) || !take_entry(map, bytes, entries.at))
            return false;
    }
    return true;
}

/* A SequenceExample has a context and feature lists, each at most once. */
static bool find_in_sequence(struct slice_span *spans, const recmap_parser *parser,
                             struct wire sequence) {
    bool has_context = false, has_lists = false;
    struct wire_trace trace;
    while (!wire_done(&sequence)) {
        struct wire entries;
        uint32_t tag;
        if (!wire_read_tag(&tag, &sequence, &trace) ||
            (tag != SEQUENCE_CONTEXT_TAG && tag != SEQUENCE_LISTS_TAG) ||
            !wire_read_bytes(&entries, &sequence, &trace))
            return false;
        bool *has_part = tag == SEQUENCE_LISTS_TAG ? &has_lists : &has_context;
        struct name_map map = {spans, parser, tag == SEQUENCE_LISTS_TAG};
        if (*has_part || !take_entries(&map, entries)) return false;
        *has_part = true;
    }
    return true;
}

bool slice_find(struct slice_span *spans, const recmap_parser *parser,
                const recmap_record *record) {
    struct wire whole = {record->data, record->data + record->size}, features;
    memset(spans, 0, parser->slice_count * sizeof *spans);
    if (parser->is_sequence) return find_in_sequence(spans, parser, whole);
    struct name_map map = {spans, parser, false};
    return open_only(&features, whole) && take_entries(&map, features);
}
