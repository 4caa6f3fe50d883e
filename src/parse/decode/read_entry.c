/* Entries that the fast path accepts although they do not match their prefix. */
#include "parse/decode/list_decode.h"
#include "parse/decode/read_paths.h"
#include "parse/example/reader.h"

enum { ENTRY_TAG = 0x0a, KEY_TAG = 0x0a };

bool read_entry_open(struct wire *key, struct wire *value, const uint8_t *bytes,
                     const uint8_t *end) {
    struct wire left = {bytes, end}, body;
    struct wire_trace trace;
    uint32_t tag;
    return wire_read_tag(&tag, &left, &trace) && tag == ENTRY_TAG &&
           wire_read_bytes(&body, &left, &trace) && wire_read_tag(&tag, &body, &trace) &&
           tag == KEY_TAG && wire_read_bytes(key, &body, &trace) &&
           wire_read_tag(&tag, &body, &trace) && tag == EXAMPLE_VALUE_TAG &&
           wire_read_bytes(value, &body, &trace) && wire_done(&body);
}

bool read_entry_open_list(struct wire *contents, recmap_type kind, struct wire value) {
    struct wire_trace trace;
    uint32_t tag;
    return wire_read_tag(&tag, &value, &trace) && feature_kind_of_tag(tag) == kind &&
           wire_read_bytes(contents, &value, &trace) && wire_done(&value);
}

static struct list_decoder begin_row(struct sink *sink, const struct slot *slot, size_t row) {
    return list_begin(sink, slot, slot->count ? row * slot->count : sink->value_count);
}

/* Finishes the row and returns true if it has the right number of values. */
static bool end_row(const struct list_decoder *decoder, size_t row) {
    struct sink *sink = decoder->sink;
    if (!list_is_whole(decoder)) return false;
    if (decoder->slot->count) return true;
    sink->value_count = decoder->at;
    ((int64_t *)(void *)sink->rows.data)[row + 1] = (int64_t)decoder->at;
    return true;
}

enum entry_outcome read_entry_any(struct sink *sink, const struct slot *slot, const uint8_t *bytes,
                                  const uint8_t *end, size_t row) {
    struct wire key, value, list;
    if (!read_entry_open(&key, &value, bytes, end)) return ENTRY_UNUSUAL;
    if (wire_left(&key) != slot->name_size || memcmp(key.at, slot->name, slot->name_size) != 0)
        return ENTRY_OTHER;
    if (wire_done(&value)) return read_entry_missing(sink, slot, row) ? ENTRY_TAKEN : ENTRY_UNUSUAL;
    if (!read_entry_open_list(&list, slot->list, value)) return ENTRY_UNUSUAL;
    struct list_decoder decoder = begin_row(sink, slot, row);
    return list_fields(&decoder, list) && end_row(&decoder, row) ? ENTRY_TAKEN : ENTRY_UNUSUAL;
}

bool read_entry_run(struct sink *sink, const struct slot *slot, const uint8_t *data, size_t size,
                    size_t row) {
    struct list_decoder decoder = begin_row(sink, slot, row);
    return list_run(&decoder, data, size) && end_row(&decoder, row);
}

bool read_entry_missing(struct sink *sink, const struct slot *slot, size_t row) {
    if (!slot->count) {
        sink_put_null(sink, slot, row);
        return true;
    }
    if (!slot->fill) return false;
    size_t size = slot->count * recmap_element_size(slot->element);
    memcpy(sink->values.data + row * size, slot->fill, size);
    return true;
}

bool read_entry_is_unasked(const struct example_names *names, const uint8_t *bytes,
                           const uint8_t *end) {
    struct wire key, value;
    return read_entry_open(&key, &value, bytes, end) &&
           example_name_is_utf8(key.at, wire_left(&key)) &&
           example_names_find(names, key.at, wire_left(&key)) == SIZE_MAX;
}
