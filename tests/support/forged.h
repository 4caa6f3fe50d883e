/* An index taken apart, to be put together again with something wrong: its values are written
 * through the store's writer, so that their hashes and the seal are right whatever they say. */
#ifndef RECMAP_TESTS_SUPPORT_FORGED_H
#define RECMAP_TESTS_SUPPORT_FORGED_H

#include "index/manifest.h"
#include "store/store.h"

typedef struct forged_value {
    struct store_key key;
    uint8_t *data;
    size_t size;
} forged_value;

enum { FORGED_VALUES_MAX = 64 }; /* in a table */

typedef struct forged_table {
    forged_value values[FORGED_VALUES_MAX];
    size_t count;
} forged_table;

typedef struct forged {
    struct manifest manifest;
    struct shard_entry *shards;
    size_t shard_count; /* may be less than the manifest says */
    struct damage_entry *damages;
    size_t damage_count;
    forged_table tables[STORE_TABLE_COUNT];
} forged;

/* Takes apart a sound index of few shards. What fails ends the test. */
forged forged_read(const char *path);
void forged_free(forged *index);

/* Encodes the current manifest, shards and damages into the first values of their tables. */
void forged_encode(forged *index);

/* Adds a value after those of a table, or removes the last one. */
void forged_add(forged *index, store_table table, struct store_key key, const void *data,
                size_t size);
void forged_drop(forged *index, store_table table);

/* Writes all values to a sealed file. */
void forged_write(const forged *index, const char *path);

#endif
