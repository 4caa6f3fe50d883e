#include "index/store/environment.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lmdb.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/map.h"
#include "index/store/seal.h"

_Static_assert(sizeof(size_t) == SEAL_WORD_SIZE,
               "LMDB's files differ between 32-bit and 64-bit machines");

/* Bytes per transaction. They are all in memory until the transaction is committed. */
#define TRANSACTION_SIZE ((size_t)32 << 20)

/* Pages of a transaction beyond those that environment_put counts: branches, the records of the
 * tables, the list of free pages. */
enum { SPARE_PAGES = 256 };

struct environment {
    MDB_env *lmdb;
    MDB_txn *transaction; /* the one being filled, or NULL */
    MDB_dbi tables[STORE_TABLE_COUNT];
    size_t room; /* bytes left in the transaction */
    size_t page_size;
    int target_fd; /* the caller's file */
    int fd;        /* the file that LMDB writes: the caller's, or an unnamed one */
    char *path;    /* of `fd`, for errors */
    const char *target_path;
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
    env->fd = env->target_fd = -1;
    *environment = env;
    return RECMAP_OK;
}

void environment_close(struct environment *env) {
    if (!env) return;
    if (env->transaction) mdb_txn_abort(env->transaction);
    mdb_env_close(env->lmdb);
    if (env->fd != env->target_fd) file_close(env->fd);
    free(env->path);
    free(env);
}

/* Opens all tables. Always in the order of their numbers, so that equal puts give equal files. */
static int create_tables(struct environment *env) {
    int code = 0;
    for (int table = 0; !code && table < STORE_TABLE_COUNT; table++)
        code = mdb_dbi_open(env->transaction, store_table_name(table), MDB_CREATE,
                            &env->tables[table]);
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

/* Chooses the name by which LMDB opens the temporary file. Its own path is not safe: if others may
 * write to the folder, they can rename the file and put a link in its place. The name of our
 * descriptor cannot change. Without /proc, the name is empty: then LMDB opens the path, and
 * check_opened detects another file. */
static void choose_name(char name[32], const struct environment *env) {
    struct file_stat ours, named;
    snprintf(name, 32, "/proc/self/fd/%d", env->fd);
    bool is_ours = file_get_stat(&ours, env->fd, env->path, NULL) == RECMAP_OK &&
                   file_stat_path(&named, name) && file_is_same(&ours, &named);
    if (!is_ours) name[0] = 0;
}

static recmap_status check_opened(const struct environment *env, recmap_error *error) {
    struct file_stat ours, opened;
    int fd = -1;
    mdb_env_get_fd(env->lmdb, &fd);
    RETURN_IF_FAILED(file_get_stat(&ours, env->fd, env->path, error));
    RETURN_IF_FAILED(file_get_stat(&opened, fd, env->path, error));
    if (file_is_same(&ours, &opened)) return RECMAP_OK;
    return temporary_fail_replaced(env->path, error);
}

static int open_file(struct environment *env, const char *path) {
    /* NOSYNC: the whole file is synced before it is published. Never WRITEMAP: a full disk would
     * raise SIGBUS instead of returning an error. */
    unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC;
    char name[32];
    choose_name(name, env);
    return mdb_env_open(env->lmdb, name[0] ? name : path, flags, 0666);
}

static int start_tables(struct environment *env) {
    MDB_stat stat;
    int code = mdb_env_stat(env->lmdb, &stat);
    if (code) return code;
    env->page_size = stat.ms_psize;
    code = begin_writing(env, 0);
    if (!code) code = create_tables(env);
    return code ? code : commit_writing(env);
}

/* LMDB maps the file that it writes. If the file system refuses to map it, LMDB writes an unnamed
 * file elsewhere, which environment_commit copies. */
static recmap_status use_scratch(struct environment *env, recmap_error *error) {
    int fd = -1;
    char *path = path_join(path_scratch_folder(), "recmap-index");
    if (!path) return fail_memory(error);
    free(env->path);
    env->path = path;
    recmap_status status = file_create_unnamed(&fd, path, error);
    if (status == RECMAP_OK) env->fd = fd;
    if (status == RECMAP_OK && !map_is_allowed(fd, 1, path, error)) status = RECMAP_IO;
    if (status != RECMAP_OK)
        fail_advise(error, "the folder of the index cannot map files, and a temporary file is "
                           "needed to build it: set TMPDIR to a folder on a local disk");
    return status;
}

static recmap_status copy_scratch(const struct environment *env, recmap_error *error) {
    enum { PART = 1 << 20 };
    struct file_stat stat;
    RETURN_IF_FAILED(file_get_stat(&stat, env->fd, env->path, error));
    uint8_t *bytes = malloc(PART);
    recmap_status status = bytes ? RECMAP_OK : fail_memory(error);
    for (uint64_t at = 0; status == RECMAP_OK && at < stat.size; at += PART) {
        size_t size = (size_t)min_u64(stat.size - at, PART);
        status = file_read_at(env->fd, bytes, size, at, env->path, error);
        if (status == RECMAP_OK)
            status = file_write_at(env->target_fd, bytes, size, at, env->target_path, error);
    }
    free(bytes);
    return status;
}

recmap_status environment_create(struct environment **environment,
                                 const struct temporary_file *file, recmap_error *error) {
    struct environment *env = NULL;
    recmap_status status = environment_allocate(&env, file->target, error);
    if (status != RECMAP_OK) return status;
    env->fd = env->target_fd = file->fd;
    env->target_path = file->target;
    if (!map_is_allowed(file->fd, 1, file->target, NULL)) status = use_scratch(env, error);
    int code = status == RECMAP_OK ? open_file(env, file->path) : 0;
    if (!code && status == RECMAP_OK) status = check_opened(env, error);
    if (!code && status == RECMAP_OK) code = start_tables(env);
    if (code) status = fail_lmdb(env, code, "start the index", error);
    if (status != RECMAP_OK) environment_close(env);
    else *environment = env;
    return status;
}

recmap_status environment_put(struct environment *env, uint8_t **data, enum store_table table,
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
    return env->fd == env->target_fd ? RECMAP_OK : copy_scratch(env, error);
}
