#include "index/store/store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/warning.h"
#include "base/os/file.h"
#include "base/os/map.h"
#include "index/store/content.h"
#include "index/store/pages.h"
#include "index/store/seal.h"

struct table_values {
    struct store_value *values;
    atomic_bool *checked;
    size_t count;
};

struct store {
    char *path;
    struct seal_fields seal;
    struct file_stat stat; /* of the file that was opened */
    const uint8_t *base;   /* the file's first byte, in `memory` or in `map` */
    uint8_t *memory;       /* the file's bytes, or NULL */
    struct file_map *map;  /* NULL in memory */
    struct table_values tables[STORE_TABLE_COUNT];
};

static uint64_t content_size(const struct seal_fields *seal) {
    return seal->file_size - SEAL_SIZE;
}

/* Reads the last bytes of the file. If they are not a seal, the error says what the file is,
 * judging by its first bytes. */
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
        RETURN_IF_FAILED(file_read_at(fd, bytes, start, 0, path, error));
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

/* Verifies the hash of everything before the seal, in `memory` or, if that is NULL, in the file. */
static recmap_status check_content(const struct seal_fields *seal, const uint8_t *memory, int fd,
                                   const char *path, recmap_error *error) {
    uint8_t hash[16];
    recmap_status status = RECMAP_OK;
    if (memory) content_hash(hash, memory, content_size(seal));
    else status = content_hash_file(hash, fd, content_size(seal), path, error);
    if (status != RECMAP_OK) return status;
    return memcmp(hash, seal->content_hash, sizeof hash) ? fail_hash(path, error) : RECMAP_OK;
}

/* Reads the file into plain memory, whose bytes nothing can change afterwards. */
static recmap_status read_memory(struct store *store, int fd, recmap_error *error) {
    uint64_t size = store->seal.file_size;
    store->memory = malloc(size);
    if (!store->memory) {
        fail_memory(error);
        fail_file(error, store->path);
        fail_advise(
            error, "the index has %" PRIu64 " bytes: open it without reading it into memory", size);
        return RECMAP_NO_MEMORY;
    }
    return file_read_at(fd, store->memory, size, 0, store->path, error);
}

/* The file system refuses to map the index. */
static recmap_status read_instead(struct store *store, int fd, recmap_error *refusal,
                                  recmap_error *error) {
    static _Atomic(uint64_t) reasons;
    recmap_status status = read_memory(store, fd, error);
    if (status == RECMAP_NO_MEMORY && error)
        *error = *refusal; /* that it cannot be mapped is why */
    RETURN_IF_FAILED(status);
    store->base = store->memory;
    recmap_error warning = *refusal;
    snprintf(warning.message, sizeof warning.message, "%.200s; the index is read into memory",
             refusal->message);
    fail_advise(&warning, "copy the index to a local disk if it is large");
    warn_once(&reasons, &warning);
    return RECMAP_OK;
}

/* Maps the file, only to read its values. LMDB would also follow page numbers in its map, which can
 * change after the check, or lie past the end of a file that was truncated. The structural check
 * reads each page into private memory, so its listing of the values is safe to use. */
static recmap_status map_file(struct store *store, int fd, recmap_error *error) {
    recmap_error refusal = RECMAP_ERROR_INIT;
    if (map_create(&store->map, fd, store->seal.file_size, store->path, &refusal) != RECMAP_OK)
        return read_instead(store, fd, &refusal, error);
    map_advise(store->map, 0, store->seal.file_size, MAP_ADVICE_RANDOM);
    store->base = store->map->data;
    return RECMAP_OK;
}

static bool copy_table(struct table_values *table, const uint8_t *base,
                       const struct page_value *values, size_t count) {
    if (!count) return true;
    table->values = malloc(count * sizeof *table->values);
    table->checked = calloc(count, sizeof *table->checked);
    if (!table->values || !table->checked) return false;
    for (size_t i = 0; i < count; i++)
        table->values[i] = (struct store_value){values[i].key,
                                                base + values[i].offset + VALUE_PREFIX_SIZE,
                                                values[i].size - VALUE_PREFIX_SIZE};
    table->count = count;
    return true;
}

static recmap_status copy_values(struct store *store, const struct page_listing *listing,
                                 recmap_error *error) {
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        if (!copy_table(&store->tables[table], store->base, listing->tables[table].values,
                        listing->tables[table].count))
            return fail_memory(error);
    return RECMAP_OK;
}

static recmap_status take_values(struct store *store, int fd, const struct page_listing *listing,
                                 const struct store_options *options, recmap_error *error) {
    if (options->check_all)
        RETURN_IF_FAILED(check_content(&store->seal, store->memory, fd, store->path, error));
    if (!options->in_memory) RETURN_IF_FAILED(map_file(store, fd, error));
    return copy_values(store, listing, error);
}

/* Runs all checks through one descriptor, so that they see one file, then maps the file and lists
 * the values. */
static recmap_status load(struct store *store, int fd, const struct store_options *options,
                          recmap_error *error) {
    struct page_listing listing = {0};
    RETURN_IF_FAILED(file_get_stat(&store->stat, fd, store->path, error));
    RETURN_IF_FAILED(read_seal(&store->seal, fd, store->stat.size, store->path, error));
    if (options->in_memory) RETURN_IF_FAILED(read_memory(store, fd, error));
    store->base = store->memory;
    struct page_source source = {store->memory, fd, content_size(&store->seal), store->path};
    recmap_status status = pages_check(&listing, &source, store->seal.page_size, error);
    if (status == RECMAP_OK) status = take_values(store, fd, &listing, options, error);
    page_listing_deinit(&listing);
    return status;
}

recmap_status store_open_file(struct store **store, int fd, const char *path,
                              const struct store_options *options, recmap_error *error) {
    static const struct store_options defaults = {false, false};
    struct store *self = calloc(1, sizeof *self);
    recmap_status status = self && (self->path = strdup(path)) ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK) status = load(self, fd, options ? options : &defaults, error);
    file_close(fd);
    if (status != RECMAP_OK) store_close(self);
    else *store = self;
    return status;
}

recmap_status store_open(struct store **store, const char *path,
                         const struct store_options *options, recmap_error *error) {
    int fd;
    RETURN_IF_FAILED(file_open(&fd, path, error));
    return store_open_file(store, fd, path, options, error);
}

void store_close(struct store *store) {
    if (!store) return;
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        free(store->tables[table].values);
        free(store->tables[table].checked);
    }
    map_destroy(store->map);
    free(store->memory);
    free(store->path);
    free(store);
}

const char *store_path(const struct store *store) {
    return store->path;
}

uint64_t store_size(const struct store *store) {
    return store->seal.file_size;
}

const struct store_value *store_values(const struct store *store, enum store_table table,
                                       size_t *count) {
    *count = store->tables[table].count;
    return store->tables[table].values;
}

static recmap_status fail_value(const struct store *store, enum store_table table,
                                const struct store_value *value, recmap_error *error) {
    if (!store_intact(store)) return store_fail_cut(store, error);
    fail(error, RECMAP_CORRUPT, "value %" PRIu64 ".%" PRIu32 " of table %s does not match its hash",
         value->key.chunk, value->key.series, store_table_name(table));
    fail_at(error, store->path, RECMAP_NO_RECORD, (uint64_t)(value->data - store->base));
    fail_advise(error, "the index is damaged: build it again with `recmap index`");
    return RECMAP_CORRUPT;
}

recmap_status store_check(struct store *store, enum store_table table, size_t value_index,
                          recmap_error *error) {
    struct table_values *values = &store->tables[table];
    assert(value_index < values->count);
    if (atomic_load_explicit(&values->checked[value_index], memory_order_acquire)) return RECMAP_OK;
    const struct store_value *value = &values->values[value_index];
    bool matches = value_prefix_matches(value->data - VALUE_PREFIX_SIZE, table, value->key,
                                        value->data, value->size);
    /* Checked after hashing: zeros that replace missing pages must not be blamed on the index. */
    if (!matches || !store_intact(store)) return fail_value(store, table, value, error);
    atomic_store_explicit(&values->checked[value_index], true, memory_order_release);
    return RECMAP_OK;
}

recmap_status store_copy(uint8_t **copy, const struct store *store, enum store_table table,
                         size_t value_index, recmap_error *error) {
    const struct store_value *value = &store->tables[table].values[value_index];
    uint8_t prefix[VALUE_PREFIX_SIZE];
    uint8_t *data = malloc(value->size + 1);
    if (!data) return fail_memory(error);
    memcpy(prefix, value->data - VALUE_PREFIX_SIZE, sizeof prefix);
    memcpy(data, value->data, value->size);
    if (!value_prefix_matches(prefix, table, value->key, data, value->size) ||
        !store_intact(store)) {
        free(data);
        return fail_value(store, table, value, error);
    }
    *copy = data;
    return RECMAP_OK;
}

bool store_intact(const struct store *store) {
    return !store->map || !store->map->was_cut;
}

recmap_status store_fail_cut(const struct store *store, recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "the index was cut short while it was open");
    fail_file(error, store->path);
    fail_advise(error, "an index may be replaced but not written to: open it again");
    return RECMAP_CORRUPT;
}

/* Opens the file again, if its path still names it. Returns -1 if not. */
static int open_again(const struct store *store) {
    int fd;
    struct file_stat stat;
    if (file_open(&fd, store->path, NULL) != RECMAP_OK) return -1;
    if (file_get_stat(&stat, fd, store->path, NULL) == RECMAP_OK &&
        file_is_same(&stat, &store->stat))
        return fd;
    file_close(fd);
    return -1;
}

/* No descriptor is kept for this, because a process may open thousands of indexes. Reading the file
 * reports failing disks, where a map raises SIGBUS, so the map is read only if the file was
 * replaced or has no name. */
recmap_status store_check_all(struct store *store, recmap_error *error) {
    int fd = store->memory ? -1 : open_again(store);
    recmap_status status =
        check_content(&store->seal, fd < 0 ? store->base : NULL, fd, store->path, error);
    file_close(fd);
    if (status == RECMAP_CORRUPT && !store_intact(store)) return store_fail_cut(store, error);
    return status;
}
