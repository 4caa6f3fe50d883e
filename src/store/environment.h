/* LMDB, behind the few things that a store needs of it: writing values in transactions of bounded
 * size, and finding them all again. The only file that includes lmdb.h. */
#ifndef RECMAP_STORE_ENVIRONMENT_H
#define RECMAP_STORE_ENVIRONMENT_H

#include "os/file.h"
#include "store/pages.h"
#include "store/store.h"

struct environment;

/* Makes an environment with every table in a temporary file that is still empty. The file stays
 * open as long as the environment; errors name its target. */
recmap_status environment_create(struct environment **env, const struct temporary_file *file,
                                 recmap_error *error);

/* Adds a value of `size` bytes, which the caller writes to `*data` before the next call. Full
 * transactions are committed first. */
recmap_status environment_put(struct environment *env, uint8_t **data, store_table table,
                              struct store_key key, size_t size, recmap_error *error);

/* Commits what is left, and says how many pages there are. Nothing is synced. */
recmap_status environment_commit(struct environment *env, uint32_t *page_size, uint64_t *page_count,
                                 recmap_error *error);

/* Opens the environment at `path` for reading, mapped up to the file's size: only after pages_check
 * found the file sound. When the file at `path` is not `expected` any more, sets `*was_replaced`
 * instead and nothing is opened. */
recmap_status environment_open(struct environment **env, bool *was_replaced, const char *path,
                               const struct file_stat *expected, recmap_error *error);

/* Checks that LMDB finds in `table` exactly what the structural check listed, and sets `*base` to
 * where the file is mapped (left alone when the table is empty). */
recmap_status environment_find(struct environment *env, const uint8_t **base, store_table table,
                               const struct page_value *values, size_t count, recmap_error *error);

/* LMDB's descriptor of the file; closed with the environment. */
int environment_descriptor(const struct environment *env);

/* Closes without committing. NULL may be closed. */
void environment_close(struct environment *env);

#endif
