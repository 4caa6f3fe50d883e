#include "store/store.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/file.h"
#include "os/map.h"
#include "store/content.h"
#include "store/environment.h"
#include "store/pages.h"
#include "store/seal.h"

/* How often the file may be replaced while it is being opened before that is an error. */
enum { OPEN_ATTEMPTS = 64 };

struct table_values {
    struct store_value *values;
    atomic_bool *checked;
    size_t count;
};

struct store {
    char *path;
    struct seal_fields seal;
    const uint8_t *base;     /* the file's first byte; NULL in a store without values */
    struct environment *env; /* NULL in memory */
    uint8_t *memory;         /* the file's bytes, or NULL */
    struct file_map *map;    /* makes LMDB's map known to the guard; NULL in memory */
    struct table_values tables[STORE_TABLE_COUNT];
};

static uint64_t content_size(const struct seal_fields *seal) {
    return seal->file_size - SEAL_SIZE;
}

static recmap_status read_seal(struct seal_fields *seal, int fd, uint64_t size, const char *path,
                               recmap_error *error) {
    uint8_t bytes[SEAL_SIZE] = {0};
    recmap_status status = RECMAP_OK;
    if (size >= SEAL_SIZE)
        status = file_read_at(fd, bytes, SEAL_SIZE, size - SEAL_SIZE, path, error);
    if (status != RECMAP_OK) return status;
    uint64_t offset = RECMAP_NO_OFFSET;
    if (seal_is_present(bytes)) {
        offset = size - SEAL_SIZE;
        status = seal_decode(seal, bytes, size, error);
    } else {
        size_t start = size < SEAL_SIZE ? (size_t)size : SEAL_SIZE;
        status = file_read_at(fd, bytes, start, 0, path, error);
        if (status != RECMAP_OK) return status;
        status = seal_fail_absent(bytes, start, error);
    }
    if (status != RECMAP_OK) fail_at(error, path, RECMAP_NO_RECORD, offset);
    return status;
}

static recmap_status fail_hash(const char *path, recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "the hash of the file is not the one in its seal");
    fail_file(error, path);
    fail_advise(error, "the index is damaged: build it again with `recmap index`");
    return RECMAP_CORRUPT;
}

/* Hashes all before the seal: `memory`, or where that is NULL the file. */
static recmap_status check_content(const struct seal_fields *seal, const uint8_t *memory, int fd,
                                   const char *path, recmap_error *error) {
    uint8_t hash[16];
    recmap_status status = RECMAP_OK;
    if (memory) content_hash(hash, memory, content_size(seal));
    else status = content_hash_file(hash, fd, content_size(seal), path, error);
    if (status != RECMAP_OK) return status;
    return memcmp(hash, seal->content_hash, sizeof hash) ? fail_hash(path, error) : RECMAP_OK;
}

/* Memory of our own, not a memfd: LMDB opens by name, which takes /proc, and is not needed here.
 * The structural check has found every value, and these bytes cannot change any more. */
static recmap_status read_memory(struct store *self, int fd, recmap_error *error) {
    uint64_t size = self->seal.file_size;
    self->memory = malloc(size);
    if (!self->memory) {
        fail_memory(error);
        fail_file(error, self->path);
        fail_advise(
            error, "the index has %" PRIu64 " bytes: open it without reading it into memory", size);
        return RECMAP_NO_MEMORY;
    }
    return file_read_at(fd, self->memory, size, 0, self->path, error);
}

/* LMDB's own reading of the file must agree with what the structural check listed. */
static recmap_status attach_environment(struct store *self, bool *was_replaced,
                                        const struct page_listing *listing,
                                        const struct file_stat *stat, recmap_error *error) {
    recmap_status status = environment_open(&self->env, was_replaced, self->path, stat, error);
    if (status != RECMAP_OK || *was_replaced) return status;
    for (int table = 0; status == RECMAP_OK && table < STORE_TABLE_COUNT; table++)
        status = environment_find(self->env, &self->base, (store_table)table,
                                  listing->tables[table].values, listing->tables[table].count,
                                  error);
    if (status == RECMAP_OK && self->base)
        status = map_watch(&self->map, self->base, self->seal.file_size, error);
    return status;
}

static bool take_table(struct table_values *table, const uint8_t *base,
                       const struct page_value *value, size_t count) {
    if (!count) return true;
    table->values = malloc(count * sizeof *table->values);
    table->checked = calloc(count, sizeof *table->checked);
    if (!table->values || !table->checked) return false;
    for (size_t i = 0; i < count; i++)
        table->values[i] = (struct store_value){
            value[i].key, base + value[i].offset + SEAL_HEAD_SIZE, value[i].size - SEAL_HEAD_SIZE};
    table->count = count;
    return true;
}

static recmap_status take_values(struct store *self, const struct page_listing *listing,
                                 recmap_error *error) {
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        if (!take_table(&self->tables[table], self->base, listing->tables[table].values,
                        listing->tables[table].count))
            return fail_memory(error);
    return RECMAP_OK;
}

/* All checks, through one descriptor, and then the values. */
static recmap_status load(struct store *self, bool *was_replaced, int fd,
                          const struct store_options *options, recmap_error *error) {
    struct page_listing listing = {0};
    struct file_stat stat;
    recmap_status status = file_get_stat(&stat, fd, self->path, error);
    if (status == RECMAP_OK) status = read_seal(&self->seal, fd, stat.size, self->path, error);
    if (status == RECMAP_OK && options->in_memory) status = read_memory(self, fd, error);
    if (status != RECMAP_OK) return status;
    self->base = self->memory;
    struct page_source source = {self->memory, fd, content_size(&self->seal), self->path};
    status = pages_check(&listing, &source, self->seal.page_size, error);
    if (status == RECMAP_OK && options->check_all)
        status = check_content(&self->seal, self->memory, fd, self->path, error);
    if (status == RECMAP_OK && !options->in_memory)
        status = attach_environment(self, was_replaced, &listing, &stat, error);
    if (status == RECMAP_OK && !*was_replaced) status = take_values(self, &listing, error);
    page_listing_free(&listing);
    return status;
}

static recmap_status open_once(struct store **store, bool *was_replaced, const char *path,
                               const struct store_options *options, recmap_error *error) {
    int fd;
    recmap_status status = file_open(&fd, path, error);
    if (status != RECMAP_OK) return status;
    struct store *self = calloc(1, sizeof *self);
    if (self) self->path = strdup(path);
    status = self && self->path ? load(self, was_replaced, fd, options, error) : fail_memory(error);
    file_close(fd);
    if (status != RECMAP_OK || *was_replaced) store_close(self);
    else *store = self;
    return status;
}

recmap_status store_open(struct store **store, const char *path,
                         const struct store_options *options, recmap_error *error) {
    static const struct store_options defaults = {false, false};
    /* LMDB opens the file by its name, a second time. When a build has replaced it since, the
     * checks have seen another file: start again with the new one. */
    for (int attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
        bool was_replaced = false;
        recmap_status status =
            open_once(store, &was_replaced, path, options ? options : &defaults, error);
        if (status != RECMAP_OK || !was_replaced) return status;
    }
    fail(error, RECMAP_IO, "the index is being replaced all the time");
    fail_file(error, path);
    fail_advise(error, "try again when nothing builds it");
    return RECMAP_IO;
}

void store_close(struct store *self) {
    if (!self) return;
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        free(self->tables[table].values);
        free(self->tables[table].checked);
    }
    map_destroy(self->map);
    environment_close(self->env);
    free(self->memory);
    free(self->path);
    free(self);
}

const char *store_path(const struct store *self) {
    return self->path;
}

uint64_t store_size(const struct store *self) {
    return self->seal.file_size;
}

const struct store_value *store_values(const struct store *self, store_table table, size_t *count) {
    *count = self->tables[table].count;
    return self->tables[table].values;
}

recmap_status store_check(struct store *self, store_table table, size_t value_index,
                          recmap_error *error) {
    struct table_values *values = &self->tables[table];
    if (atomic_load_explicit(&values->checked[value_index], memory_order_acquire)) return RECMAP_OK;
    const struct store_value *value = &values->values[value_index];
    bool matches =
        head_matches(value->data - SEAL_HEAD_SIZE, table, value->key, value->data, value->size);
    if (!store_intact(self)) return store_fail_cut(self, error);
    if (!matches) {
        fail(error, RECMAP_CORRUPT,
             "value %" PRIu64 ".%" PRIu32 " of table %s does not match its hash", value->key.chunk,
             value->key.series, store_table_name(table));
        fail_at(error, self->path, RECMAP_NO_RECORD, (uint64_t)(value->data - self->base));
        fail_advise(error, "the index is damaged: build it again with `recmap index`");
        return RECMAP_CORRUPT;
    }
    atomic_store_explicit(&values->checked[value_index], true, memory_order_release);
    return RECMAP_OK;
}

bool store_intact(const struct store *self) {
    return !self->map || !self->map->was_cut;
}

recmap_status store_fail_cut(const struct store *self, recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "the index was cut short while it was open");
    fail_file(error, self->path);
    fail_advise(error, "an index is replaced, never written to: open it again");
    return RECMAP_CORRUPT;
}

recmap_status store_check_all(struct store *self, recmap_error *error) {
    int fd = self->env ? environment_descriptor(self->env) : -1;
    return check_content(&self->seal, self->memory, fd, self->path, error);
}
