/* An id in 16 bytes, to be compared with many others. An int64 and bytes of up to 15 are in the key
 * itself, so that comparing them reads no other memory; longer ones are referred to. */
#ifndef RECMAP_DATASET_LOOKUP_ID_KEY_H
#define RECMAP_DATASET_LOOKUP_ID_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <recmap/record.h>

#include "base/core/bytes.h"

enum {
    ID_KEY_BYTES_MAX = 15, /* up to this size the bytes are in the key */
    ID_KEY_INT64 = 16,
    ID_KEY_LONG = 17,
    ID_KEY_ABSENT = 18,
    ID_KEY_KIND_SHIFT = 56, /* no id has 2^56 bytes */
};

struct id_key {
    uint64_t first; /* bytes, the int64, or the address of long bytes */
    uint64_t last; /* further bytes, or the size of long bytes; the highest 8 bits are the kind: the
                      number of bytes in the key, INT64, LONG or ABSENT */
};

/* Not the key of an id. */
static const struct id_key ID_KEY_NONE = {0, (uint64_t)ID_KEY_ABSENT << ID_KEY_KIND_SHIFT};

static inline unsigned id_key_kind(const struct id_key *key) {
    return (unsigned)(key->last >> ID_KEY_KIND_SHIFT);
}

/* The bytes of a key of kind LONG. */
static inline const uint8_t *id_key_data(const struct id_key *key) {
    return (const uint8_t *)(uintptr_t)key->first;
}

/* The `size` bytes, 0 to 8, of a number whose other bytes are 0. All loads lie within the bytes:
 * loads of 4 or 2 bytes may overlap. */
static inline uint64_t id_key_load(const uint8_t *bytes, size_t size) {
    if (size == 8) return load64(bytes);
    if (size >= 4) return load32(bytes) | (uint64_t)load32(bytes + size - 4) << (8 * (size - 4));
    if (size >= 2) return load16(bytes) | (uint64_t)bytes[size - 1] << (8 * (size - 1));
    return size ? bytes[0] : 0;
}

/* The key of an id of type INT64 or BYTES. It borrows the bytes of a long id. Copying the bytes to
 * a buffer first would be slower: a load of bytes that were just stored one by one waits. */
static inline struct id_key id_key_of(const recmap_value *id) {
    if (id->type == RECMAP_TYPE_INT64)
        return (struct id_key){(uint64_t)id->as.int64, (uint64_t)ID_KEY_INT64 << ID_KEY_KIND_SHIFT};
    const uint8_t *data = id->as.bytes.data;
    uint64_t size = id->as.bytes.size, kind = size << ID_KEY_KIND_SHIFT;
    if (size > ID_KEY_BYTES_MAX)
        return (struct id_key){(uintptr_t)data, (uint64_t)ID_KEY_LONG << ID_KEY_KIND_SHIFT | size};
    if (size <= 8) return (struct id_key){id_key_load(data, size), kind};
    /* The last 8 bytes, without those that are in the first 8. */
    return (struct id_key){load64(data), load64(data + size - 8) >> (8 * (16 - size)) | kind};
}

/* Returns true if the bytes of two keys of kind LONG and of the same size are equal. */
bool id_key_has_bytes_of(const struct id_key *key, const struct id_key *other);

static inline bool id_key_equals(const struct id_key *key, const struct id_key *other) {
    if (key->last != other->last) return false;
    if (key->first == other->first) return true;
    return id_key_kind(key) == ID_KEY_LONG && id_key_has_bytes_of(key, other);
}

#endif
