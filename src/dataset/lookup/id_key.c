#include "dataset/lookup/id_key.h"

static size_t long_size(const struct id_key *key) {
    return (size_t)(key->last & (((uint64_t)1 << ID_KEY_KIND_SHIFT) - 1));
}

bool id_key_has_bytes_of(const struct id_key *key, const struct id_key *other) {
    return !memcmp(id_key_data(key), id_key_data(other), long_size(key));
}
