#include "index/tables/identity.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/core/bytes.h"

/* The hashed entry of a record: u64 offset, u64 size, u32 check. */
enum { ENTRY_SIZE = 20, STAGED_ENTRIES = 204 };

struct identity_builder {
    XXH3_state_t *state;
    uint8_t staged[ENTRY_SIZE * STAGED_ENTRIES];
    size_t staged_size;
    uint64_t record_count;
    struct shard_identity identity;
};

struct identity_builder *identity_create(void) {
    struct identity_builder *builder = calloc(1, sizeof *builder);
    if (!builder) return NULL;
    builder->state = XXH3_createState();
    if (builder->state) return builder;
    free(builder);
    return NULL;
}

void identity_destroy(struct identity_builder *builder) {
    if (!builder) return;
    XXH3_freeState(builder->state);
    free(builder);
}

void identity_reset(struct identity_builder *builder) {
    XXH3_128bits_reset(builder->state);
    builder->staged_size = 0;
    builder->record_count = 0;
    builder->identity = (struct shard_identity){.sample_step = 1};
}

static void flush(struct identity_builder *builder) {
    XXH3_128bits_update(builder->state, builder->staged, builder->staged_size);
    builder->staged_size = 0;
}

/* The number of records is not known until the end. So whenever the samples are full, every second
 * one is dropped and the step doubles. Of more than 32 records, 17 to 32 samples remain. */
static void add_sample(struct shard_identity *identity, uint64_t record, uint32_t check) {
    if (record % identity->sample_step) return;
    if (identity->sample_count == IDENTITY_SAMPLES_MAX) {
        for (size_t i = 0; i < IDENTITY_SAMPLES_MAX / 2; i++)
            identity->samples[i] = identity->samples[2 * i];
        identity->sample_count = IDENTITY_SAMPLES_MAX / 2;
        identity->sample_step *= 2;
    }
    identity->samples[identity->sample_count++] = check;
}

void identity_add(struct identity_builder *builder, uint64_t offset, uint64_t size,
                  uint32_t check) {
    if (builder->staged_size == sizeof builder->staged) flush(builder);
    uint8_t *entry = builder->staged + builder->staged_size;
    store64(entry, offset);
    store64(entry + 8, size);
    store32(entry + 16, check);
    builder->staged_size += ENTRY_SIZE;
    add_sample(&builder->identity, builder->record_count, check);
    builder->record_count++;
}

static void put_hash(uint8_t bytes[IDENTITY_HASH_SIZE], XXH128_hash_t hash) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    memcpy(bytes, canonical.digest, IDENTITY_HASH_SIZE);
}

struct shard_identity identity_finish(struct identity_builder *builder, uint64_t shard_size) {
    flush(builder);
    uint8_t size[8];
    store64(size, shard_size);
    XXH3_128bits_update(builder->state, size, sizeof size);
    put_hash(builder->identity.hash, XXH3_128bits_digest(builder->state));
    return builder->identity;
}

void identity_fingerprint(uint8_t fingerprint[IDENTITY_HASH_SIZE], const uint8_t *hashes,
                          size_t count) {
    put_hash(fingerprint, XXH3_128bits(hashes, count * IDENTITY_HASH_SIZE));
}
