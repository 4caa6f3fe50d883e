/* An index taken apart, to be put together again with something wrong: its values are written
 * through the store's writer, so that their hashes and the seal are right whatever they say. */
#ifndef RECMAP_TESTS_SUPPORT_INDEX_FORGED_H
#define RECMAP_TESTS_SUPPORT_INDEX_FORGED_H

#include "index/store/store.h"
#include "index/tables/manifest.h"

struct forged_value {
    struct store_key key;
    uint8_t *data;
    size_t size;
};

enum { FORGED_VALUES_MAX = 64 }; /* in a table */

struct forged_table {
    struct forged_value values[FORGED_VALUES_MAX];
    size_t count;
};

struct forged {
    struct manifest manifest;
    struct shard_entry *shards;
    size_t shard_count; /* may be less than the manifest says */
    struct damage_entry *damages;
    size_t damage_count;
    struct forged_table tables[STORE_TABLE_COUNT];
};

/* Takes apart a sound index of few shards. What fails ends the test. */
struct forged forged_read(const char *path);
void forged_deinit(struct forged *index);

/* Encodes the current manifest, shards and damages into the first values of their tables. */
void forged_encode(struct forged *index);

/* Adds a value at the end of a table, or removes the last one. */
void forged_add(struct forged *index, enum store_table table, struct store_key key,
                const void *data, size_t size);
void forged_remove(struct forged *index, enum store_table table);

/* Writes all values to a sealed file. */
void forged_write(const struct forged *index, const char *path);

#endif
