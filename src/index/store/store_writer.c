#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "base/os/lock_file.h"
#include "index/store/content.h"
#include "index/store/environment.h"
#include "index/store/seal.h"
#include "index/store/store.h"

struct store_writer {
    struct temporary_file file;
    struct environment *env; /* NULL once it is committed */
    bool has_failed;
    bool has_key[STORE_TABLE_COUNT];
    struct store_key last_key[STORE_TABLE_COUNT];
};

recmap_status store_writer_create(struct store_writer **writer, const char *path,
                                  enum temporary_leftovers leftovers, recmap_error *error) {
    struct store_writer *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->file = (struct temporary_file)TEMPORARY_FILE_INIT;
    recmap_status status = temporary_create(&fresh->file, path, leftovers, error);
    if (status == RECMAP_OK) status = environment_create(&fresh->env, &fresh->file, error);
    if (status != RECMAP_OK) store_writer_destroy(fresh);
    else *writer = fresh;
    return status;
}

void store_writer_destroy(struct store_writer *writer) {
    if (!writer) return;
    environment_close(writer->env);
    temporary_discard(&writer->file);
    free(writer);
}

void store_writer_restrict(struct store_writer *writer, const struct file_stat *source) {
    temporary_restrict(&writer->file, source);
}

static bool key_follows(struct store_key key, struct store_key last) {
    return key.chunk != last.chunk ? key.chunk > last.chunk : key.series > last.series;
}

static recmap_status put_value(struct store_writer *writer, enum store_table table,
                               struct store_key key, const void *data, size_t size,
                               recmap_error *error) {
    if (writer->has_failed || !writer->env)
        return fail(error, RECMAP_INVALID, "the index failed before, or is finished");
    if (size > STORE_VALUE_LIMIT)
        return fail(error, RECMAP_INVALID, "a value of %zu bytes is over the limit of %zu", size,
                    STORE_VALUE_LIMIT);
    if (writer->has_key[table] && !key_follows(key, writer->last_key[table]))
        return fail(error, RECMAP_INVALID, "keys of table %s must ascend", store_table_name(table));
    uint8_t *value;
    RETURN_IF_FAILED(
        environment_put(writer->env, &value, table, key, VALUE_PREFIX_SIZE + size, error));
    if (size) memcpy(value + VALUE_PREFIX_SIZE, data, size);
    value_prefix_encode(value, table, key, value + VALUE_PREFIX_SIZE, size);
    writer->has_key[table] = true;
    writer->last_key[table] = key;
    return RECMAP_OK;
}

recmap_status store_writer_put(struct store_writer *writer, enum store_table table,
                               struct store_key key, const void *data, size_t size,
                               recmap_error *error) {
    recmap_status status = put_value(writer, table, key, data, size, error);
    if (status == RECMAP_OK) status = interrupt_check(thread_interrupt(), size, error);
    writer->has_failed |= status != RECMAP_OK;
    return status;
}

/* Commits and syncs LMDB's pages. The seal is written afterwards: a file with a seal must be
 * complete, even after a crash. */
static recmap_status sync_pages(struct store_writer *writer, struct seal_fields *seal,
                                recmap_error *error) {
    recmap_status status =
        environment_commit(writer->env, &seal->page_size, &seal->page_count, error);
    environment_close(writer->env);
    writer->env = NULL;
    if (status != RECMAP_OK) return status;
    uint64_t size = seal->page_count * seal->page_size;
    seal->file_size = size + SEAL_SIZE;
    /* LMDB does not write pages that were allocated and freed again. If the last page is one of
     * them, the file is too short: extend it. */
    RETURN_IF_FAILED(file_resize(writer->file.fd, size, writer->file.target, error));
    return file_sync(writer->file.fd, writer->file.target, error);
}

static recmap_status write_seal(struct store_writer *writer, struct seal_fields *seal,
                                recmap_error *error) {
    uint8_t bytes[SEAL_SIZE];
    uint64_t size = seal->file_size - SEAL_SIZE;
    /* LMDB writes its pages in any order, so the hash needs a second pass over the file. */
    RETURN_IF_FAILED(
        content_hash_file(seal->content_hash, writer->file.fd, size, writer->file.target, error));
    seal_encode(bytes, seal);
    RETURN_IF_FAILED(
        file_write_at(writer->file.fd, bytes, sizeof bytes, size, writer->file.target, error));
    return file_sync(writer->file.fd, writer->file.target, error);
}

/* Appends and annotations hold a lock file, but a plain build does not. So the index is compared
 * with the one that was read and replaced under one more lock, which all of them take. */
static recmap_status publish(struct store_writer *writer, store_publish_check before_publish,
                             void *context, recmap_error *error) {
    int lock;
    RETURN_IF_FAILED(folder_lock(&lock, writer->file.target, error));
    recmap_status status = before_publish ? before_publish(context, error) : RECMAP_OK;
    if (status == RECMAP_OK) status = temporary_publish(&writer->file, error);
    folder_unlock(lock);
    return status;
}

recmap_status store_writer_finish(struct store_writer *writer, store_publish_check before_publish,
                                  void *context, recmap_error *error) {
    struct seal_fields seal;
    if (writer->has_failed || !writer->env)
        return fail(error, RECMAP_INVALID, "the index failed before, or is finished");
    RETURN_IF_FAILED(sync_pages(writer, &seal, error));
    RETURN_IF_FAILED(write_seal(writer, &seal, error));
    return publish(writer, before_publish, context, error);
}
