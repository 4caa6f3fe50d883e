/* A sealed store as bytes, to be broken by tests: a sample with every kind of page, ways to find
 * LMDB's structures in it, and ways to make its hashes right again afterwards. */
#ifndef RECMAP_TESTS_SUPPORT_INDEX_STORE_FILE_H
#define RECMAP_TESTS_SUPPORT_INDEX_STORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/store/store.h"

/* Offsets in LMDB's structures, on 64-bit machines. */
enum {
    PAGE_NUMBER = 0,
    PAGE_KIND = 10,
    PAGE_LOWER = 12,
    PAGE_UPPER = 14,
    PAGE_NODES = 16,
    META_MAGIC = 16,
    META_VERSION = 20,
    META_PAGE_SIZE = 40,
    META_MAIN = 88,
    META_LAST_PAGE = 136,
    META_TRANSACTION = 144,
    META_END = 152,
    RECORD_FLAGS = 4,
    RECORD_DEPTH = 6,
    RECORD_BRANCHES = 8,
    RECORD_LEAVES = 16,
    RECORD_OVERFLOWS = 24,
    RECORD_ENTRIES = 32,
    RECORD_ROOT = 40,
    NODE_SIZE = 0,
    NODE_CHILD = 0,
    NODE_FLAGS = 4,
    NODE_KEY_SIZE = 6,
    NODE_KEY = 8,
    NODE_LARGE_PAGE = 20, /* after a key of 12 bytes */
    SEAL_VERSION_AT = 8,
    SEAL_LMDB_VERSION_AT = 12,
    SEAL_PAGE_SIZE_AT = 16,
    SEAL_BYTE_ORDER_AT = 20,
    SEAL_WORD_SIZE_AT = 21,
    SEAL_PAGE_COUNT_AT = 24,
    SEAL_FILE_SIZE_AT = 32,
};

struct store_file {
    uint8_t *bytes;
    size_t size;
};

/* The sample's values: how many a table has, and each one's key and bytes. `damage` is empty, `ids`
 * has branch pages, `offsets` and `columns` large values, the others small ones. */
size_t sample_count(enum store_table table);
struct store_key sample_key(enum store_table table, size_t i);
/* Returns the size; `bytes` has room for SAMPLE_VALUE_MAX. */
enum { SAMPLE_VALUE_MAX = 20000 };
size_t sample_value(uint8_t *bytes, enum store_table table, size_t i);

/* Writes the sample with a store_writer. Aborts when that fails. */
void sample_write(const char *path);

/* Whole files; abort on failure. */
struct store_file file_load(const char *path);
void file_save(const char *path, const void *bytes, size_t size);
struct store_file file_copy(const struct store_file *file);
void file_deinit(struct store_file *file);

/* Parts of the file, which must be sound where they are looked for. */
uint32_t page_size_of(const struct store_file *file);
uint64_t page_count_of(const struct store_file *file);
uint8_t *page_of(const struct store_file *file, uint64_t number);
uint8_t *newer_meta(const struct store_file *file);
uint8_t *older_meta(const struct store_file *file);
uint8_t *main_record(const struct store_file *file);
uint8_t *names_page(const struct store_file *file); /* the table of tables */
uint8_t *names_node(const struct store_file *file,
                    enum store_table table); /* the table's node there */
uint8_t *record_of(const struct store_file *file, enum store_table table); /* after its name */
uint8_t *root_of(const struct store_file *file, enum store_table table);
uint8_t *node_of(uint8_t *page, size_t i);
uint8_t *child_of(const struct store_file *file, uint8_t *branch, size_t i);
uint64_t page_number(const uint8_t *page);
uint8_t *seal_of(const struct store_file *file);

/* Numbers as LMDB has them: in the machine's order. */
void put16(uint8_t *position, uint16_t value);
void put32(uint8_t *position, uint32_t value);
void put64(uint8_t *position, uint64_t value);
uint16_t get16(const uint8_t *position);
uint32_t get32(const uint8_t *position);
uint64_t get64(const uint8_t *position);

/* Makes every hash right again: of values (where the pages still say where they are), of the
 * content, of the seal itself, whose other fields stay as they are. */
void file_reseal(struct store_file *file);

/* Random numbers from a seed, for mutations that can be repeated. */
uint64_t random_next(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t limit);

#endif
