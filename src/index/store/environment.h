/* Writes a store's values with LMDB, in transactions of bounded size. environment.c is the only
 * file that includes lmdb.h. Reading needs no LMDB: see store.c. */
#ifndef RECMAP_INDEX_STORE_ENVIRONMENT_H
#define RECMAP_INDEX_STORE_ENVIRONMENT_H

#include "base/os/file.h"
#include "index/store/store.h"

struct environment;

/* Creates an environment with all tables in an empty temporary file. The file must stay open as
 * long as the environment. Errors name the file's target. */
recmap_status environment_create(struct environment **env, const struct temporary_file *file,
                                 recmap_error *error);

/* Reserves a value of `size` bytes. The caller must write it to `*data` before the next call. A
 * full transaction is committed first. */
recmap_status environment_put(struct environment *env, uint8_t **data, enum store_table table,
                              struct store_key key, size_t size, recmap_error *error);

/* Commits the last transaction and returns the number of pages. Nothing is synced. */
recmap_status environment_commit(struct environment *env, uint32_t *page_size, uint64_t *page_count,
                                 recmap_error *error);

/* Closes without committing. `env` may be NULL. */
void environment_close(struct environment *env);

#endif
