/* The sealed file: an LMDB environment of few large values, each with its own hash, and behind
 * LMDB's last page a seal over the whole file.
 *
 *   writer:  temporary file -> put values -> sync, seal, sync -> rename, sync the folder
 *   reader:  size and seal -> LMDB's page structure -> LMDB itself -> a list of all values
 *
 * The file never changes once it has its name. Nothing of LMDB runs on a lookup: the reader
 * collects a pointer to every value once, and that pointer holds as long as the store is open.
 * docs/index-format.md specifies the bytes; seal.h and pages.h are their code. */
#ifndef RECMAP_STORE_STORE_H
#define RECMAP_STORE_STORE_H

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
    STORE_POINTS,
    STORE_TABLE_COUNT,
} store_table;

/* "manifest", "shards", ...: the databases' names, and what errors call them. */
const char *store_table_name(store_table table);

/* A key is 12 bytes in the file, both numbers big-endian, so that LMDB's order is the order of
 * chunks, then of series. */
struct store_key {
    uint64_t chunk;
    uint32_t series;
};

enum { STORE_KEY_SIZE = 12 };

/* The largest value. LMDB writes a value with one system call, and Linux writes less than 2 GiB. */
#define STORE_VALUE_LIMIT ((size_t)1 << 30)

/* Writes one store. Belongs to one thread at a time. After an error it can only be destroyed.
 * The same puts in the same order give the same bytes on machines of one page size. */
struct store_writer;

/* Starts the file that will replace `path`. Every table is there from the start. */
recmap_status store_writer_create(struct store_writer **writer, const char *path,
                                  recmap_error *error);

/* Adds a value of at most STORE_VALUE_LIMIT bytes, copied; the keys of one table must ascend,
 * tables may alternate. Memory: what was put is written out every 32 MiB.
 * Errors: INVALID for a key out of order or a value too large; IO (ENOSPC, EDQUOT and EFBIG are
 * told apart), NO_MEMORY. */
recmap_status store_writer_put(struct store_writer *writer, store_table table, struct store_key key,
                               const void *data, size_t size, recmap_error *error);

/* Seals the file and gives it its name. `before_publish` (or NULL) is called just before the
 * rename, with everything synced; an error from it stops the publishing. The writer is still to be
 * destroyed. */
typedef recmap_status (*store_publish_check)(void *context, recmap_error *error);
recmap_status store_writer_finish(struct store_writer *writer, store_publish_check before_publish,
                                  void *context, recmap_error *error);

/* Frees the writer; the temporary file of an unfinished one is removed. NULL may be destroyed. */
void store_writer_destroy(struct store_writer *writer);

/* An open store. Every function but store_close may be called from many threads at once, and a
 * child may go on using a store that was opened before the fork. */
struct store;

struct store_options {
    bool check_all; /* hash the whole file: several GB a second */
    bool in_memory; /* read the file into memory first: nothing done to the file matters any more */
};

/* A value of the file. `data` lives as long as the store; its bytes are unchecked until
 * store_check said OK for it. Large values (over half a page) start at a multiple of 32 in the
 * file, small ones anywhere. */
struct store_value {
    struct store_key key;
    const uint8_t *data;
    size_t size;
};

/* Opens the store at `path`; NULL options are the defaults. What is promised on success: every
 * value lies within the file, and keys ascend. A file that is no store, is cut short or longer, is
 * of another version, byte order or LMDB format, or whose pages do not form sound trees is an error
 * that says which.
 * Errors: CORRUPT, UNSUPPORTED, IO, NO_MEMORY (the file is mapped whole).
 * Cost: a few system calls and one read for every hundred values; no value is touched. */
recmap_status store_open(struct store **store, const char *path,
                         const struct store_options *options, recmap_error *error);

/* Ends the store and all its values. NULL may be closed. */
void store_close(struct store *store);

const char *store_path(const struct store *store);
uint64_t store_size(const struct store *store); /* bytes of the file */

/* All values of a table, sorted by key. The array lives as long as the store. */
const struct store_value *store_values(const struct store *store, store_table table, size_t *count);

/* Checks value `value_index` of a table against its hash, which binds table, key and size: once,
 * then it is remembered. Errors: CORRUPT naming file, byte, table and key. */
recmap_status store_check(struct store *store, store_table table, size_t value_index,
                          recmap_error *error);

/* False once the guard had to put zeros into the file's map: what was read since is worthless. */
bool store_intact(const struct store *store);

/* The error for a store that is not intact. */
recmap_status store_fail_cut(const struct store *store, recmap_error *error);

/* Hashes the whole file against the seal. Errors: CORRUPT, IO. */
recmap_status store_check_all(struct store *store, recmap_error *error);

#endif
