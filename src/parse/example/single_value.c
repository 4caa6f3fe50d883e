#include "parse/example/single_value.h"

#include <string.h>

#include "parse/example/feature.h"

enum {
    FIRST_TAG = 1 << 3 | WIRE_BYTES, /* of the Features message, of an entry and of its name */
    PLAIN_FEATURE_MAX = 127,
};

/* Reads the next field, which must have this tag. */
static bool read_field(struct wire *contents, struct wire *message, uint8_t tag,
                       struct wire_trace *trace) {
    if (wire_done(message) || *message->at != tag) return false;
    message->at++;
    return wire_read_bytes(contents, message, trace);
}

static bool read_value(recmap_value *value, const struct wire *body) {
    struct example_feature feature = {0};
    if (!body->at || wire_left(body) > PLAIN_FEATURE_MAX ||
        !feature_read_plain(&feature, body->at, wire_left(body)) || feature.count != 1)
        return false;
    *value = example_feature_first(&feature);
    return true;
}

/* Each entry must be a name and a feature, once and in this order. Then its name is known without
 * reading the feature, and the last entry with the name wins, as in example_lookup. */
bool example_single_value(recmap_value *value, const char *name, size_t name_size,
                          const uint8_t *data, size_t size) {
    struct wire record = {data, data + size}, features, entry, key, feature, found = {NULL, NULL};
    struct wire_trace trace = {0};
    if (size > INT32_MAX || !read_field(&features, &record, FIRST_TAG, &trace) ||
        !wire_done(&record))
        return false;
    while (!wire_done(&features)) {
        if (!read_field(&entry, &features, FIRST_TAG, &trace) ||
            !read_field(&key, &entry, FIRST_TAG, &trace) ||
            !read_field(&feature, &entry, EXAMPLE_VALUE_TAG, &trace) || !wire_done(&entry))
            return false;
        if (wire_left(&key) == name_size && !memcmp(key.at, name, name_size)) found = feature;
    }
    return read_value(value, &found);
}
