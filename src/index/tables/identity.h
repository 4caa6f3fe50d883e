/* The identity of a shard: a hash over its record boundaries and payload CRCs; and samples, which
 * are the CRCs of a few records spread over the shard. The samples suffice to recognise the shard
 * without reading all of it. */
#ifndef RECMAP_INDEX_TABLES_IDENTITY_H
#define RECMAP_INDEX_TABLES_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IDENTITY_SAMPLES_MAX = 32, IDENTITY_HASH_SIZE = 16 };

struct shard_identity {
    uint8_t hash[IDENTITY_HASH_SIZE];
    uint32_t samples[IDENTITY_SAMPLES_MAX]; /* payload CRC of record i * sample_step */
    size_t sample_count;
    uint64_t sample_step;
};

/* Computes identities: of one shard at a time, from its records in order. */
struct identity_builder;

struct identity_builder *identity_create(void); /* returns NULL without memory */
void identity_destroy(struct identity_builder *builder);

/* Starts a shard, adds its records, and returns its identity. */
void identity_reset(struct identity_builder *builder);
void identity_add(struct identity_builder *builder, uint64_t offset, uint64_t size, uint32_t check);
struct shard_identity identity_finish(struct identity_builder *builder, uint64_t shard_size);

/* The fingerprint of a data set: XXH3-128 over the hashes of its shards, in order. */
void identity_fingerprint(uint8_t fingerprint[IDENTITY_HASH_SIZE], const uint8_t *hashes,
                          size_t count);

#endif
