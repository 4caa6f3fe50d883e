/* The sealed file: an LMDB environment of few large values, each with its own hash, followed by a
 * seal over the whole file.
 *
 *   writer:  temporary file -> put values -> sync, seal, sync -> rename, sync the folder
 *   reader:  size and seal -> structure of LMDB's pages -> map the file -> a list of all values
 *
 * A published file never changes; it can only be replaced. Reading does not call LMDB: the
 * reader collects a pointer to every value once, and the pointers are valid while the store is
 * open. docs/formats/index-format.md specifies the bytes; seal.h and pages.h implement them. */
#ifndef RECMAP_INDEX_STORE_STORE_H
#define RECMAP_INDEX_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

#include "base/os/file.h"

/* The named databases. Their numbers are part of the values' hashes, so their order is fixed. */
enum store_table {
    STORE_MANIFEST,
    STORE_SHARDS,
    STORE_OFFSETS,
    STORE_IDS,
    STORE_COLUMNS,
    STORE_DAMAGE,
    STORE_POINTS,
    STORE_COUNTS,
    STORE_TABLE_COUNT,
};

/* "manifest", "shards", ...: the name of the database, also used in errors. */
const char *store_table_name(enum store_table table);

/* A key is 12 bytes in the file. Both numbers are big-endian, so that LMDB orders keys by chunk,
 * then by series. */
struct store_key {
    uint64_t chunk;
    uint32_t series;
};

enum { STORE_KEY_SIZE = 12 };

/* The largest value. LMDB writes a value with one system call, which on Linux is limited to just
 * under 2 GiB. */
#define STORE_VALUE_LIMIT ((size_t)1 << 30)

/* Writes one store. Used by one thread at a time. After an error it can only be destroyed. The same
 * puts in the same order produce the same bytes on all machines with the same page size. */
struct store_writer;

/* Creates the temporary file that will replace `path`, with all tables, still empty. */
recmap_status store_writer_create(struct store_writer **writer, const char *path,
                                  enum temporary_leftovers leftovers, recmap_error *error);

/* Adds a copy of a value of at most STORE_VALUE_LIMIT bytes. Keys must ascend within a table;
 * tables may alternate. Memory is bounded: values are written to the file every 32 MiB. Errors:
 * INVALID for a key out of order or a value too large; IO (with the errno: ENOSPC, EDQUOT or
 * EFBIG), NO_MEMORY. */
recmap_status store_writer_put(struct store_writer *writer, enum store_table table,
                               struct store_key key, const void *data, size_t size,
                               recmap_error *error);

/* Seals the file and renames it to its path. `before_publish` (or NULL) is called after everything
 * is synced, immediately before the rename; if it fails, nothing is published. The writer must
 * still be destroyed. */
typedef recmap_status (*store_publish_check)(void *context, recmap_error *error);
recmap_status store_writer_finish(struct store_writer *writer, store_publish_check before_publish,
                                  void *context, recmap_error *error);

/* Lets nobody but the owner read the file who cannot read `source`: see temporary_restrict. */
void store_writer_restrict(struct store_writer *writer, const struct file_stat *source);

/* Frees the writer, and removes the temporary file if it was not published. `writer` may be NULL.
 */
void store_writer_destroy(struct store_writer *writer);

/* An open store. All functions but store_close are thread-safe, and a store opened before a fork
 * can be used in the child. */
struct store;

struct store_options {
    bool check_all; /* hash the whole file: several GB a second */
    bool in_memory; /* read the file into memory: later changes to it have no effect */
};

/* A value of the file. `data` is valid while the store is open. Its bytes are unverified until
 * store_check succeeds. Large values (over half a page) start at a multiple of 32 in the file,
 * small ones anywhere. */
struct store_value {
    struct store_key key;
    const uint8_t *data;
    size_t size;
};

/* Opens the store at `path`; `options` may be NULL. On success every value lies within the file,
 * and keys ascend. Errors, which say what is wrong: CORRUPT if the file is not a store, was
 * truncated or extended, or its pages do not form sound trees; UNSUPPORTED for another version,
 * byte order or LMDB format; IO; NO_MEMORY (the whole file is mapped). Cost: a few system calls,
 * and one read for every hundred values; no value is read. */
recmap_status store_open(struct store **store, const char *path,
                         const struct store_options *options, recmap_error *error);

/* The same of an open file, which `path` names in messages. Takes the descriptor, even on failure.
 */
recmap_status store_open_file(struct store **store, int fd, const char *path,
                              const struct store_options *options, recmap_error *error);

/* Closes the store and invalidates its values. `store` may be NULL. */
void store_close(struct store *store);

const char *store_path(const struct store *store);
uint64_t store_size(const struct store *store); /* bytes of the file */

/* All values of a table, sorted by key. The array is valid while the store is open. */
const struct store_value *store_values(const struct store *store, enum store_table table,
                                       size_t *count);

/* Verifies value `value_index` of a table against its hash, which covers table, key and size too.
 * The result is remembered, so only the first call hashes. Errors: CORRUPT naming file, byte, table
 * and key. */
recmap_status store_check(struct store *store, enum store_table table, size_t value_index,
                          recmap_error *error);

/* Copies the value into memory that the caller frees, and checks the hash of the copy. For values
 * that a decoder reads more than once: the bytes of the file can change at any time. */
recmap_status store_copy(uint8_t **copy, const struct store *store, enum store_table table,
                         size_t value_index, recmap_error *error);

/* False if the file was truncated while it was mapped. The guard then replaced the missing pages by
 * zeros, so everything read since may be wrong. */
bool store_intact(const struct store *store);

/* The error for a store that is not intact. */
recmap_status store_fail_cut(const struct store *store, recmap_error *error);

/* Hashes the whole file against the seal: the file that was opened, if its path still names it, or
 * else its map. Errors: CORRUPT, IO. */
recmap_status store_check_all(struct store *store, recmap_error *error);

#endif
