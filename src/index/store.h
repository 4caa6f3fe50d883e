/* The sealed file: an LMDB environment of few large values, every one with its own hash, and a
 * trailer behind LMDB's last page. The only part that knows LMDB.
 *
 *   writer:  create temporary file -> put values -> finish: sync, seal, sync, rename, sync folder
 *   reader:  check size and seal -> check LMDB's page structure -> open LMDB -> list of all values
 *
 * Nothing of LMDB runs on a lookup: the reader collects a pointer to every value once, which stays
 * valid as long as its read transaction, that is, as long as the store is open. */
#ifndef RECMAP_INDEX_STORE_H
#define RECMAP_INDEX_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* The named databases, in the order in which their numbers enter the hashes. */
typedef enum store_table {
    STORE_MANIFEST,
    STORE_SHARDS,
    STORE_OFFSETS,
    STORE_IDS,
    STORE_COLUMNS,
    STORE_DAMAGE,
    STORE_TABLE_COUNT,
} store_table;

/* Keys are 12 bytes, big-endian, so that LMDB's order is the order of chunks, then of series. */
typedef struct store_key {
    uint64_t chunk;
    uint32_t series;
} store_key;

typedef struct store_writer store_writer;

/* Starts the file that will replace `path`. */
recmap_status store_writer_create(store_writer **writer, const char *path, recmap_error *error);

/* Adds a value; keys of one table must ascend. The bytes are copied. At most 2^31 bytes. */
recmap_status store_writer_put(store_writer *writer, store_table table, store_key key,
                               const void *data, size_t size, recmap_error *error);

/* Seals the file and gives it its name. `before_publish` (or NULL) is called just before the
 * rename, with everything synced; an error from it stops the publishing. */
typedef recmap_status (*store_publish_check)(void *context, recmap_error *error);
recmap_status store_writer_finish(store_writer *writer, store_publish_check before_publish,
                                  void *context, recmap_error *error);

/* Unless finished, removes the temporary file. NULL may be destroyed. */
void store_writer_destroy(store_writer *writer);

typedef struct store store;

typedef struct store_options {
    bool check_all;  /* hash the whole file */
    bool in_memory;  /* read it into memory first; nothing done to the file matters any more */
} store_options;

/* A value of the file. `data` is valid as long as the store; its bytes are unchecked until
 * store_check said OK for it. 8-byte alignment is not promised. */
typedef struct store_value {
    store_key key;
    const uint8_t *data;
    size_t size;
} store_value;

recmap_status store_open(store **opened, const char *path, const store_options *options,
                         recmap_error *error);
void store_close(store *store);

const char *store_path(const store *store);
uint64_t store_size(const store *store); /* bytes of the file */

/* All values of a table, sorted by key. The array lives as long as the store. */
const store_value *store_values(const store *store, store_table table, size_t *count);

/* Checks value `value_index` of a table against its hash, which binds table and key: once, then it
 * is remembered. Threads: any. Errors: CORRUPT naming file, table and key. */
recmap_status store_check(store *store, store_table table, size_t value_index,
                          recmap_error *error);

/* False once the guard had to put zeros into the file's map: what was read since is worthless. */
bool store_intact(const store *store);

/* The error for a store that is not intact. */
recmap_status store_fail_cut(const store *store, recmap_error *error);

/* The hash of the whole file in the seal: tells builds apart. */
void store_seal_hash(const store *store, uint8_t hash[16]);

/* Hashes the whole file against the seal. Errors: CORRUPT, IO. */
recmap_status store_check_all(store *store, recmap_error *error);

#endif
