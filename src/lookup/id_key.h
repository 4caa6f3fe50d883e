/* An id in 16 bytes, to be compared with many others. An int64 and bytes of up to 15 are in the key
 * itself, so that comparing them reads no other memory; longer ones are referred to. */
#ifndef RECMAP_LOOKUP_ID_KEY_H
#define RECMAP_LOOKUP_ID_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <recmap/record.h>

#include "base/bytes.h"

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

/* The key of an id of type INT64 or BYTES. It borrows the bytes of a long id. */
static inline struct id_key id_key_of(const recmap_value *id) {
    uint8_t bytes[ID_KEY_BYTES_MAX + 1] = {0};
    if (id->type == RECMAP_TYPE_INT64)
        return (struct id_key){(uint64_t)id->as.int64, (uint64_t)ID_KEY_INT64 << ID_KEY_KIND_SHIFT};
    size_t size = id->as.bytes.size;
    if (size > ID_KEY_BYTES_MAX)
        return (struct id_key){(uintptr_t)id->as.bytes.data,
                               (uint64_t)ID_KEY_LONG << ID_KEY_KIND_SHIFT | size};
    if (size) memcpy(bytes, id->as.bytes.data, size);
    bytes[ID_KEY_BYTES_MAX] = (uint8_t)size;
    return (struct id_key){load64(bytes), load64(bytes + 8)};
}

/* Whether the bytes of two keys of kind LONG and of the same size are equal. */
bool id_key_has_bytes_of(const struct id_key *key, const struct id_key *other);

static inline bool id_key_equals(const struct id_key *key, const struct id_key *other) {
    if (key->last != other->last) return false;
    if (key->first == other->first) return true;
    return id_key_kind(key) == ID_KEY_LONG && id_key_has_bytes_of(key, other);
}

#endif
