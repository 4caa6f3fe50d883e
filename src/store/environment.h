/* A wrapper around the part of LMDB that a store needs: writing values in transactions of bounded
 * size, and listing them. environment.c is the only file that includes lmdb.h. */
#ifndef RECMAP_STORE_ENVIRONMENT_H
#define RECMAP_STORE_ENVIRONMENT_H

#include "os/file.h"
#include "store/pages.h"
#include "store/store.h"

struct environment;

/* Creates an environment with all tables in an empty temporary file. The file must stay open as
 * long as the environment. Errors name the file's target. */
recmap_status environment_create(struct environment **env, const struct temporary_file *file,
                                 recmap_error *error);

/* Reserves a value of `size` bytes. The caller must write it to `*data` before the next call. A
 * full transaction is committed first. */
recmap_status environment_put(struct environment *env, uint8_t **data, store_table table,
                              struct store_key key, size_t size, recmap_error *error);

/* Commits the last transaction and returns the number of pages. Nothing is synced. */
recmap_status environment_commit(struct environment *env, uint32_t *page_size, uint64_t *page_count,
                                 recmap_error *error);

/* Opens the environment at `path` for reading, mapped up to the file's size. The caller must have
 * checked the file with pages_check, since LMDB trusts it. If another file is at `path` by now,
 * sets `*was_replaced` and opens nothing. */
recmap_status environment_open(struct environment **env, bool *was_replaced, const char *path,
                               const struct file_stat *expected, recmap_error *error);

/* Checks that LMDB finds in `table` exactly the values that pages_check listed, and sets `*base` to
 * the address at which the file is mapped (unchanged if the table is empty). */
recmap_status environment_find(struct environment *env, const uint8_t **base, store_table table,
                               const struct page_value *values, size_t count, recmap_error *error);

/* LMDB's descriptor of the file. It is closed with the environment. */
int environment_descriptor(const struct environment *env);

/* Closes without committing. `env` may be NULL. */
void environment_close(struct environment *env);

#endif
