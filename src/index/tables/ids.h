/* Packed ids: sorted pairs (hash of the id, record number) of fixed width. The id itself is not
 * stored; it is compared in the record. docs/formats/index-format.md specifies the bytes. Pure. */
#ifndef RECMAP_INDEX_TABLES_IDS_H
#define RECMAP_INDEX_TABLES_IDS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

#include "base/core/bytes.h"

enum {
    IDS_CHUNK_PAIRS = 1 << 17,
    IDS_HASH_BYTES = 6,
    IDS_HASH_BITS = 8 * IDS_HASH_BYTES,
    IDS_PADDING = 8, /* so that eight bytes can be read at every pair */
};

/* The fences are the hashes of the first pair of each chunk, as u64, by which a search chooses the
 * chunk. They are stored under this chunk number. */
#define IDS_FENCES_CHUNK UINT64_MAX

/* Represents "no id": not a 48-bit hash. */
#define IDS_NONE UINT64_MAX

struct id_pair {
    uint64_t hash; /* 48 bits */
    uint64_t number;
};

/* The hash of an id: the upper 48 bits of XXH3-64 over its bytes, or, with seed 1, over its int64
 * in eight bytes. The id's type is INT64 or BYTES. */
uint64_t id_hash(const recmap_value *id);

/* The number of bytes that record numbers below `record_count` need: 1 to 8. */
unsigned ids_number_size(uint64_t record_count);

/* Packs sorted pairs; `bytes` has room for ids_packed_size. */
size_t ids_packed_size(size_t pair_count, unsigned number_size);
void ids_pack(uint8_t *bytes, const struct id_pair *pairs, size_t pair_count, unsigned number_size);

/* A packed chunk. Its size must be ids_packed_size(pair_count, number_size). */
struct ids_chunk {
    const uint8_t *pairs;
    size_t pair_count;
    unsigned number_size;
};

/* Both fields are read as eight bytes, and masked: the padding follows the last pair. */
static inline struct id_pair ids_at(const struct ids_chunk *chunk, size_t i) {
    assert(i < chunk->pair_count);
    const uint8_t *pair = chunk->pairs + i * (IDS_HASH_BYTES + chunk->number_size);
    uint64_t number_mask = UINT64_MAX >> (64 - 8 * chunk->number_size);
    return (struct id_pair){load64(pair) & (((uint64_t)1 << IDS_HASH_BITS) - 1),
                            load64(pair + IDS_HASH_BYTES) & number_mask};
}

/* The index of the first pair whose hash is at least `hash`; pair_count if there is none. Uses
 * interpolation: hashes are uniform, so one or two probes come close. If the pairs are not sorted,
 * the result is wrong and the search may take as long as a binary search, but it never reads
 * outside. */
size_t ids_lower_bound(const struct ids_chunk *chunk, uint64_t hash);

/* The same, and faster if the result is close to `guess`, which is at most pair_count. */
size_t ids_lower_bound_near(const struct ids_chunk *chunk, size_t guess, uint64_t hash);

/* The average number of pairs for each hash between the first and the last one of a chunk. */
double ids_density(const struct ids_chunk *chunk);

#endif
