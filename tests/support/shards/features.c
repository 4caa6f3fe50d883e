#include "support/shards/features.h"

#include <string.h>

static void add_varint(struct buffer *buffer, uint64_t value) {
    for (; value > 127; value >>= 7) buffer_add_byte(buffer, (uint8_t)(value | 128));
    buffer_add_byte(buffer, (uint8_t)value);
}

/* A field of wire type 2. */
static void add_field(struct buffer *buffer, unsigned field, const void *data, size_t size) {
    add_varint(buffer, field << 3 | 2);
    add_varint(buffer, size);
    buffer_add(buffer, data, size);
}

/* Adds an entry whose list is field `kind` of Feature; takes over the list. */
static void add_feature(struct buffer *features, const char *name, unsigned kind,
                        struct buffer *list) {
    struct buffer feature = BUFFER_INIT, entry = BUFFER_INIT;
    if (kind) add_field(&feature, kind, list->data, list->size);
    add_field(&entry, 1, name, strlen(name));
    add_field(&entry, 2, feature.data, feature.size);
    add_field(features, 1, entry.data, entry.size);
    buffer_deinit(&entry);
    buffer_deinit(&feature);
    buffer_deinit(list);
}

enum { KIND_BYTES = 1, KIND_FLOAT = 2, KIND_INT64 = 3 };

static void add_int64s(struct buffer *features, const char *name, const int64_t *values,
                       size_t count) {
    struct buffer packed = BUFFER_INIT, list = BUFFER_INIT;
    for (size_t i = 0; i < count; i++) add_varint(&packed, (uint64_t)values[i]);
    add_field(&list, 1, packed.data, packed.size);
    buffer_deinit(&packed);
    add_feature(features, name, KIND_INT64, &list);
}

void features_add_int64(struct buffer *features, const char *name, int64_t value) {
    add_int64s(features, name, &value, 1);
}

void features_add_pair(struct buffer *features, const char *name) {
    add_int64s(features, name, (const int64_t[]){1, 2}, 2);
}

void features_add_float(struct buffer *features, const char *name, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    struct buffer list = BUFFER_INIT;
    uint8_t packed[4];
    for (int i = 0; i < 4; i++) packed[i] = (uint8_t)(bits >> 8 * i);
    add_field(&list, 1, packed, sizeof packed);
    add_feature(features, name, KIND_FLOAT, &list);
}

void features_add_bytes(struct buffer *features, const char *name, const void *data, size_t size) {
    struct buffer list = BUFFER_INIT;
    add_field(&list, 1, data, size);
    add_feature(features, name, KIND_BYTES, &list);
}

void features_add_text(struct buffer *features, const char *name, const char *text) {
    features_add_bytes(features, name, text, strlen(text));
}

void features_add_nothing(struct buffer *features, const char *name) {
    struct buffer list = BUFFER_INIT;
    add_feature(features, name, 0, &list);
}

void features_end(struct buffer *example, struct buffer *features) {
    add_field(example, 1, features->data, features->size);
    buffer_deinit(features);
}
