/* What tells a shard from every other: a hash over its record boundaries and data CRCs, and the
 * CRCs of some records spread over it, which are enough to recognise it without reading it whole.
 */
#ifndef RECMAP_INDEX_IDENTITY_H
#define RECMAP_INDEX_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IDENTITY_SAMPLES_MAX = 32, IDENTITY_HASH_SIZE = 16 };

struct shard_identity {
    uint8_t hash[IDENTITY_HASH_SIZE];
    uint32_t samples[IDENTITY_SAMPLES_MAX]; /* checks of records 0, step, 2 step, ... */
    size_t sample_count;
    uint64_t sample_step;
};

/* Takes the records of one shard in order. */
struct identity_builder;

struct identity_builder *identity_create(void); /* NULL when memory is out */
void identity_destroy(struct identity_builder *builder);

void identity_begin(struct identity_builder *builder);
void identity_add(struct identity_builder *builder, uint64_t offset, uint64_t size, uint32_t check);
struct shard_identity identity_end(struct identity_builder *builder, uint64_t shard_size);

/* XXH3-128 of `count` shard hashes in order: the fingerprint of the data set. */
void identity_fingerprint(uint8_t fingerprint[IDENTITY_HASH_SIZE], const uint8_t *hashes,
                          size_t count);

#endif
