#include "store/environment.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lmdb.h>

#include "base/error.h"
#include "store/seal.h"

_Static_assert(sizeof(size_t) == SEAL_WORD_SIZE,
               "LMDB's files differ between 32-bit and 64-bit machines");

/* Bytes per transaction. They are all in memory until the transaction is committed. */
#define TRANSACTION_SIZE ((size_t)32 << 20)

/* Pages of a transaction beyond those that environment_put counts: branches, the records of the
 * tables, the list of free pages. */
enum { SPARE_PAGES = 256 };

struct environment {
    MDB_env *lmdb;
    MDB_txn *transaction; /* writing: the one being filled, or NULL; reading: the only one */
    MDB_dbi tables[STORE_TABLE_COUNT];
    size_t room; /* bytes left in the transaction */
    size_t page_size;
    int fd;     /* writing: the caller's descriptor of the file; reading: -1 */
    char *path; /* for errors */
};

/* LMDB reports a short write as EIO or ENOSPC and hides the cause: a full disk, a quota, or a limit
 * of the file size. So write to the end of the file again, which fails with the real errno. Returns
 * false if it does not fail. */
static bool fail_short_write(struct environment *env, recmap_error *error) {
    static const uint8_t zeros[4096];
    struct file_stat stat;
    recmap_error cause = RECMAP_ERROR_INIT;
    if (file_get_stat(&stat, env->fd, env->path, NULL) != RECMAP_OK) return false;
    recmap_status status =
        file_write_at(env->fd, zeros, sizeof zeros, stat.size, env->path, &cause);
    if (status == RECMAP_OK) return false;
    if (error) *error = cause;
    return true;
}

static recmap_status fail_lmdb(struct environment *env, int code, const char *action,
                               recmap_error *error) {
    bool may_be_short = env->fd >= 0 && (code == EIO || code == ENOSPC);
    if (may_be_short && fail_short_write(env, error)) return RECMAP_IO;
    if (code > 0) return fail_errno(error, code, env->path, action);
    fail(error, RECMAP_IO, "cannot %s: %s", action, mdb_strerror(code));
    fail_file(error, env->path);
    return RECMAP_IO;
}

static recmap_status environment_allocate(struct environment **environment, const char *path,
                                          recmap_error *error) {
    struct environment *env = calloc(1, sizeof *env);
    char *path_copy = env ? strdup(path) : NULL;
    int code = path_copy ? mdb_env_create(&env->lmdb) : ENOMEM;
    if (!code) code = mdb_env_set_maxdbs(env->lmdb, STORE_TABLE_COUNT);
    if (code) {
        if (env && env->lmdb) mdb_env_close(env->lmdb);
        free(path_copy);
        free(env);
        return fail_errno(error, code, path, "prepare LMDB");
    }
    env->path = path_copy;
    env->fd = -1;
    *environment = env;
    return RECMAP_OK;
}

void environment_close(struct environment *env) {
    if (!env) return;
    if (env->transaction) mdb_txn_abort(env->transaction);
    mdb_env_close(env->lmdb);
    free(env->path);
    free(env);
}

int environment_descriptor(const struct environment *env) {
    int fd = -1;
    mdb_env_get_fd(env->lmdb, &fd);
    return fd;
}

/* Opens all tables. Always in the order of their numbers, so that equal puts give equal files. */
static int open_tables(struct environment *env, unsigned flags) {
    int code = 0;
    for (int table = 0; !code && table < STORE_TABLE_COUNT; table++)
        code = mdb_dbi_open(env->transaction, store_table_name(table), flags, &env->tables[table]);
    return code;
}

/* Starts a transaction with room for at least `size` bytes. The map grows by that much only, so
 * that a small index can be built under a limit of address space. LMDB stores the size of the map
 * in the file, so the size must depend on nothing but the values put. */
static int begin_writing(struct environment *env, size_t size) {
    MDB_envinfo info;
    if (size < TRANSACTION_SIZE) size = TRANSACTION_SIZE;
    assert(!env->transaction);
    size_t room = size + SPARE_PAGES * env->page_size;
    mdb_env_info(env->lmdb, &info);
    size_t used = (info.me_last_pgno + 1) * env->page_size;
    int code = used + room > info.me_mapsize ? mdb_env_set_mapsize(env->lmdb, used + room) : 0;
    if (!code) code = mdb_txn_begin(env->lmdb, NULL, 0, &env->transaction);
    if (code) env->transaction = NULL;
    env->room = size;
    return code;
}

static int commit_writing(struct environment *env) {
    int code = env->transaction ? mdb_txn_commit(env->transaction) : 0;
    env->transaction = NULL;
    return code;
}

static int start_file(struct environment *env, const char *path) {
    /* NOSYNC: the whole file is synced before it is published. Never WRITEMAP: a full disk would
     * raise SIGBUS instead of returning an error. */
    unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC;
    MDB_stat stat;
    int code = mdb_env_open(env->lmdb, path, flags, 0666);
    if (!code) code = mdb_env_stat(env->lmdb, &stat);
    if (code) return code;
    env->page_size = stat.ms_psize;
    code = begin_writing(env, 0);
    if (!code) code = open_tables(env, MDB_CREATE);
    return code ? code : commit_writing(env);
}

recmap_status environment_create(struct environment **environment,
                                 const struct temporary_file *file, recmap_error *error) {
    struct environment *env;
    recmap_status status = environment_allocate(&env, file->target, error);
    if (status != RECMAP_OK) return status;
    env->fd = file->fd;
    int code = start_file(env, file->path);
    if (code) {
        status = fail_lmdb(env, code, "start the index", error);
        environment_close(env);
        return status;
    }
    *environment = env;
    return RECMAP_OK;
}

recmap_status environment_put(struct environment *env, uint8_t **data, store_table table,
                              struct store_key key, size_t size, recmap_error *error) {
    uint8_t key_bytes[STORE_KEY_SIZE];
    key_encode(key_bytes, key);
    /* An upper bound: the value's own pages, one more for their header, and a new leaf. */
    size_t cost = (size / env->page_size + 3) * env->page_size;
    int code = 0;
    if (env->transaction && cost > env->room) code = commit_writing(env);
    if (!code && !env->transaction) code = begin_writing(env, cost);
    MDB_val lmdb_key = {sizeof key_bytes, key_bytes};
    MDB_val value = {size, NULL};
    if (!code)
        code = mdb_put(env->transaction, env->tables[table], &lmdb_key, &value,
                       MDB_APPEND | MDB_RESERVE);
    if (code) return fail_lmdb(env, code, "write the index", error);
    assert(cost <= env->room);
    env->room -= cost;
    *data = value.mv_data;
    return RECMAP_OK;
}

recmap_status environment_commit(struct environment *env, uint32_t *page_size, uint64_t *page_count,
                                 recmap_error *error) {
    MDB_envinfo info;
    int code = commit_writing(env);
    if (!code) code = mdb_env_info(env->lmdb, &info);
    if (code) return fail_lmdb(env, code, "write the index", error);
    *page_size = (uint32_t)env->page_size;
    *page_count = info.me_last_pgno + 1;
    return RECMAP_OK;
}

static bool is_same_file(const struct file_stat *a, const struct file_stat *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size;
}

static int start_reading(struct environment *env) {
    int code = mdb_txn_begin(env->lmdb, NULL, MDB_RDONLY, &env->transaction);
    if (code) env->transaction = NULL;
    return code ? code : open_tables(env, 0);
}

static recmap_status open_reading(struct environment *env, bool *was_replaced, const char *path,
                                  const struct file_stat *expected, recmap_error *error) {
    unsigned flags = MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD | MDB_NOSUBDIR;
    struct file_stat now;
    int code = mdb_env_set_mapsize(env->lmdb, expected->size);
    if (!code) code = mdb_env_open(env->lmdb, path, flags, 0);
    if (code) {
        if (file_stat_path(&now, path) && is_same_file(&now, expected))
            return fail_lmdb(env, code, "map the index", error);
        *was_replaced = true;
        return RECMAP_OK;
    }
    recmap_status status = file_get_stat(&now, environment_descriptor(env), path, error);
    if (status != RECMAP_OK) return status;
    *was_replaced = !is_same_file(&now, expected);
    if (*was_replaced) return RECMAP_OK;
    code = start_reading(env);
    return code ? fail_lmdb(env, code, "read the index", error) : RECMAP_OK;
}

recmap_status environment_open(struct environment **environment, bool *was_replaced,
                               const char *path, const struct file_stat *expected,
                               recmap_error *error) {
    struct environment *env;
    recmap_status status = environment_allocate(&env, path, error);
    if (status != RECMAP_OK) return status;
    bool is_other = false;
    status = open_reading(env, &is_other, path, expected, error);
    if (status != RECMAP_OK || is_other) environment_close(env);
    else *environment = env;
    if (status == RECMAP_OK) *was_replaced = is_other;
    return status;
}

/* Whether LMDB returned exactly the listed value, at the same place in the file. */
static bool is_listed(const MDB_val *key, const MDB_val *value, const struct page_value *listed,
                      const uint8_t *base) {
    uint8_t expected[STORE_KEY_SIZE];
    key_encode(expected, listed->key);
    return key->mv_size == sizeof expected && !memcmp(key->mv_data, expected, sizeof expected) &&
           value->mv_size == listed->size &&
           (const uint8_t *)value->mv_data == base + listed->offset;
}

/* Iterates over the table with LMDB and compares each value to the listing. The first value gives
 * the address of the file, all others must agree with it. A difference can only mean that the file
 * was written to after pages_check read it. */
recmap_status environment_find(struct environment *env, const uint8_t **base, store_table table,
                               const struct page_value *values, size_t count, recmap_error *error) {
    MDB_cursor *cursor;
    MDB_val key, value;
    const uint8_t *start = NULL;
    size_t checked = 0;
    int code = mdb_cursor_open(env->transaction, env->tables[table], &cursor);
    if (code) return fail_lmdb(env, code, "read the index", error);
    while (!(code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) && checked < count) {
        if (!start) start = (const uint8_t *)value.mv_data - values[0].offset;
        if (!is_listed(&key, &value, &values[checked], start)) break;
        checked++;
    }
    mdb_cursor_close(cursor);
    if (code && code != MDB_NOTFOUND) return fail_lmdb(env, code, "read the index", error);
    if (!code || checked < count) {
        fail(error, RECMAP_IO, "the index was changed in place while it was being opened");
        fail_file(error, env->path);
        fail_advise(error, "an index may be replaced but not written to: build it again");
        return RECMAP_IO;
    }
    if (start) *base = start;
    return RECMAP_OK;
}
