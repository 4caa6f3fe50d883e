#include "support/index/store_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/core/bytes.h"
#include "index/store/content.h"
#include "index/store/pages.h"
#include "index/store/seal.h"

static void require(bool holds, const char *reason) {
    if (holds) return;
    fprintf(stderr, "the test's own preparation failed: %s\n", reason);
    abort();
}

size_t sample_count(enum store_table table) {
    static const size_t counts[STORE_TABLE_COUNT] = {1, 5, 12, 200, 4, 0};
    return counts[table];
}

struct store_key sample_key(enum store_table table, size_t i) {
    if (table == STORE_COLUMNS) return (struct store_key){i / 2, (uint32_t)(i % 2)};
    return (struct store_key){i * 3 + (uint64_t)table, table == STORE_IDS ? (uint32_t)i : 0};
}

static size_t sample_size(enum store_table table, size_t i) {
    switch (table) {
    case STORE_MANIFEST: return 100;
    case STORE_SHARDS: return 600 + i;
    case STORE_OFFSETS: return 3000 + 1100 * i;
    case STORE_IDS: return 40 + i % 7;
    case STORE_COLUMNS: return i ? 5000 : 0;
    default: return 0;
    }
}

size_t sample_value(uint8_t *bytes, enum store_table table, size_t i) {
    size_t size = sample_size(table, i);
    uint64_t state = (uint64_t)table << 32 | i;
    for (size_t at = 0; at < size; at++) bytes[at] = (uint8_t)random_next(&state);
    return size;
}

void sample_write(const char *path) {
    static uint8_t bytes[SAMPLE_VALUE_MAX];
    struct store_writer *writer;
    require(store_writer_create(&writer, path, LEFTOVERS_REMOVE, NULL) == RECMAP_OK, "create");
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        for (size_t i = 0; i < sample_count((enum store_table)table); i++) {
            size_t size = sample_value(bytes, (enum store_table)table, i);
            struct store_key key = sample_key((enum store_table)table, i);
            require(store_writer_put(writer, (enum store_table)table, key, bytes, size, NULL) ==
                        RECMAP_OK,
                    "put");
        }
    require(store_writer_finish(writer, NULL, NULL, NULL) == RECMAP_OK, "finish");
    store_writer_destroy(writer);
}

struct store_file file_load(const char *path) {
    FILE *stream = fopen(path, "rb");
    require(stream != NULL, path);
    fseek(stream, 0, SEEK_END);
    struct store_file file = {NULL, (size_t)ftell(stream)};
    file.bytes = malloc(file.size + 1);
    rewind(stream);
    require(file.bytes && fread(file.bytes, 1, file.size, stream) == file.size, path);
    fclose(stream);
    return file;
}

void file_save(const char *path, const void *bytes, size_t size) {
    FILE *stream = fopen(path, "wb");
    require(stream != NULL, path);
    require(fwrite(bytes, 1, size, stream) == size, path);
    require(fclose(stream) == 0, path);
}

struct store_file file_copy(const struct store_file *file) {
    struct store_file copy = {malloc(file->size + 1), file->size};
    require(copy.bytes != NULL, "memory");
    memcpy(copy.bytes, file->bytes, file->size);
    return copy;
}

void file_deinit(struct store_file *file) {
    free(file->bytes);
    file->bytes = NULL;
}

uint16_t get16(const uint8_t *position) {
    uint16_t value;
    memcpy(&value, position, sizeof value);
    return value;
}

uint32_t get32(const uint8_t *position) {
    uint32_t value;
    memcpy(&value, position, sizeof value);
    return value;
}

uint64_t get64(const uint8_t *position) {
    uint64_t value;
    memcpy(&value, position, sizeof value);
    return value;
}

void put16(uint8_t *position, uint16_t value) {
    memcpy(position, &value, sizeof value);
}

void put32(uint8_t *position, uint32_t value) {
    memcpy(position, &value, sizeof value);
}

void put64(uint8_t *position, uint64_t value) {
    memcpy(position, &value, sizeof value);
}

uint8_t *seal_of(const struct store_file *file) {
    return file->bytes + file->size - SEAL_SIZE;
}

uint32_t page_size_of(const struct store_file *file) {
    return load32(seal_of(file) + SEAL_PAGE_SIZE_AT);
}

uint64_t page_count_of(const struct store_file *file) {
    return load64(seal_of(file) + SEAL_PAGE_COUNT_AT);
}

uint8_t *page_of(const struct store_file *file, uint64_t number) {
    return file->bytes + number * page_size_of(file);
}

uint64_t page_number(const uint8_t *page) {
    return get64(page);
}

static bool first_is_older(const struct store_file *file) {
    return get64(page_of(file, 0) + META_TRANSACTION) < get64(page_of(file, 1) + META_TRANSACTION);
}

uint8_t *newer_meta(const struct store_file *file) {
    return page_of(file, first_is_older(file));
}

uint8_t *older_meta(const struct store_file *file) {
    return page_of(file, !first_is_older(file));
}

uint8_t *main_record(const struct store_file *file) {
    return newer_meta(file) + META_MAIN;
}

uint8_t *names_page(const struct store_file *file) {
    return page_of(file, get64(main_record(file) + RECORD_ROOT));
}

uint8_t *node_of(uint8_t *page, size_t i) {
    return page + get16(page + PAGE_NODES + 2 * i);
}

uint8_t *names_node(const struct store_file *file, enum store_table table) {
    const char *name = store_table_name(table);
    for (size_t i = 0; i < STORE_TABLE_COUNT; i++) {
        uint8_t *node = node_of(names_page(file), i);
        if (get16(node + NODE_KEY_SIZE) == strlen(name) &&
            !memcmp(node + NODE_KEY, name, strlen(name)))
            return node;
    }
    require(false, name);
    return NULL;
}

uint8_t *record_of(const struct store_file *file, enum store_table table) {
    return names_node(file, table) + NODE_KEY + strlen(store_table_name(table));
}

uint8_t *root_of(const struct store_file *file, enum store_table table) {
    return page_of(file, get64(record_of(file, table) + RECORD_ROOT));
}

uint8_t *child_of(const struct store_file *file, uint8_t *branch, size_t i) {
    uint8_t *node = node_of(branch, i);
    return page_of(file, get32(node) | (uint64_t)get16(node + NODE_FLAGS) << 32);
}

static void fix_values(struct store_file *file) {
    uint32_t page_size = page_size_of(file);
    struct page_source source = {file->bytes, -1, file->size - SEAL_SIZE, "file"};
    struct page_listing listing;
    if (page_size < 4096 || page_size > 32768 || source.size % page_size ||
        pages_check(&listing, &source, page_size, NULL) != RECMAP_OK)
        return;
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        for (size_t i = 0; i < listing.tables[table].count; i++) {
            const struct page_value *value = &listing.tables[table].values[i];
            uint8_t *head = file->bytes + value->offset;
            value_prefix_encode(head, (enum store_table)table, value->key, head + VALUE_PREFIX_SIZE,
                                value->size - VALUE_PREFIX_SIZE);
        }
    page_listing_deinit(&listing);
}

void file_reseal(struct store_file *file) {
    if (file->size < SEAL_SIZE) return;
    uint8_t *seal = seal_of(file);
    fix_values(file);
    content_hash(seal + 40, file->bytes, file->size - SEAL_SIZE);
    store64(seal + 56, XXH3_64bits(seal, 56));
}

uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t random_below(uint64_t *state, uint64_t limit) {
    return limit ? random_next(state) % limit : 0;
}
