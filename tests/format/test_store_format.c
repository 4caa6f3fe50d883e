/* The invariants of the sealed file: each is broken alone, with every hash made right again, and
 * must be refused with its own message. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "helpers/store_file.h"
#include "index/seal.h"

static char folder[64];
static char path[96];
static store_file sample;

static int enter(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/recmap-format-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/sample.rmx", folder);
    sample_write(path);
    sample = file_load(path);
    return 0;
}

static int leave(void **state) {
    (void)state;
    file_free(&sample);
    unlink(path);
    return rmdir(folder);
}

/* Where a field is. */
typedef uint8_t *(*locate_fn)(const store_file *file);

static uint8_t *ids_record(const store_file *file) {
    return record_of(file, STORE_IDS);
}

static uint8_t *offsets_record(const store_file *file) {
    return record_of(file, STORE_OFFSETS);
}

static uint8_t *damage_record(const store_file *file) {
    return record_of(file, STORE_DAMAGE);
}

static uint8_t *ids_names_node(const store_file *file) {
    return names_node(file, STORE_IDS);
}

static uint8_t *ids_branch(const store_file *file) {
    return root_of(file, STORE_IDS);
}

static uint8_t *ids_branch_third(const store_file *file) {
    return node_of(ids_branch(file), 2);
}

static uint8_t *ids_leaf(const store_file *file) {
    return child_of(file, ids_branch(file), 1);
}

static uint8_t *ids_leaf_third(const store_file *file) {
    return node_of(ids_leaf(file), 2);
}

static uint8_t *shards_leaf(const store_file *file) {
    return root_of(file, STORE_SHARDS);
}

static uint8_t *offsets_second(const store_file *file) {
    return node_of(root_of(file, STORE_OFFSETS), 1);
}

/* Breaks that are more than one field. */
static void swap_ids(store_file *file) {
    uint8_t *nodes = ids_leaf(file) + PAGE_NODES;
    uint16_t first = get16(nodes);
    put16(nodes, get16(nodes + 2));
    put16(nodes + 2, first);
}

static void repeat_id(store_file *file) {
    memcpy(node_of(ids_leaf(file), 1) + NODE_KEY, node_of(ids_leaf(file), 0) + NODE_KEY,
           STORE_KEY_SIZE);
}

static void id_below_branch(store_file *file) {
    memset(node_of(ids_leaf(file), 0) + NODE_KEY, 0, STORE_KEY_SIZE);
}

static void branch_below_leaf(store_file *file) {
    memset(node_of(ids_branch(file), 1) + NODE_KEY, 0, STORE_KEY_SIZE);
}

static void key_of_first_child(store_file *file) {
    uint8_t *nodes = ids_branch(file) + PAGE_NODES;
    uint16_t first = get16(nodes);
    put16(nodes, get16(nodes + 2));
    put16(nodes + 2, first);
}

static void share_leaf(store_file *file) {
    uint8_t *branch = ids_branch(file);
    memcpy(node_of(branch, 2), node_of(branch, 1), 6);
}

static void cycle(store_file *file) {
    uint8_t *branch = ids_branch(file);
    put32(node_of(branch, 1), (uint32_t)page_number(branch));
}

static void share_root(store_file *file) {
    memcpy(record_of(file, STORE_SHARDS), record_of(file, STORE_COLUMNS), 48);
}

static void share_value(store_file *file) {
    uint8_t *leaf = root_of(file, STORE_OFFSETS);
    memcpy(node_of(leaf, 3) + NODE_LARGE_PAGE, node_of(leaf, 2) + NODE_LARGE_PAGE, 8);
}

static void value_over_tree(store_file *file) {
    put64(offsets_second(file) + NODE_LARGE_PAGE, page_number(ids_branch(file)));
}

static void value_over_meta(store_file *file) {
    put64(offsets_second(file) + NODE_LARGE_PAGE, 1);
}

static void overlapping_nodes(store_file *file) {
    uint8_t *nodes = shards_leaf(file) + PAGE_NODES;
    put16(nodes + 2, get16(nodes));
}

static void long_name(store_file *file) {
    uint8_t *node = names_node(file, STORE_IDS);
    put16(node + NODE_KEY_SIZE, 51);
    put32(node, 0);
}

static void unknown_table(store_file *file) {
    names_node(file, STORE_IDS)[NODE_KEY] = 'j';
}

static void drop_table(store_file *file) {
    uint8_t *page = names_page(file);
    put16(page + PAGE_LOWER, (uint16_t)(get16(page + PAGE_LOWER) - 2));
    put64(main_record(file) + RECORD_ENTRIES, STORE_TABLE_COUNT - 1);
}

static void depth_without_root(store_file *file) {
    put16(damage_record(file) + RECORD_DEPTH, 1);
}

static void empty_leaf(store_file *file) {
    put16(shards_leaf(file) + PAGE_LOWER, PAGE_NODES);
}

static void thin_branch(store_file *file) {
    put16(ids_branch(file) + PAGE_LOWER, PAGE_NODES + 2);
}

static void nameless_table(store_file *file) {
    uint8_t *node = names_node(file, STORE_IDS);
    put16(node + NODE_KEY_SIZE, 0);
    put32(node, get32(node) + 3);
}

static void swap_names(store_file *file) {
    uint8_t *nodes = names_page(file) + PAGE_NODES;
    uint16_t first = get16(nodes);
    put16(nodes, get16(nodes + 2));
    put16(nodes + 2, first);
}

/* One key shorter by 2, its value longer by 2. */
static void short_key(store_file *file) {
    uint8_t *node = ids_leaf_third(file);
    put16(node + NODE_KEY_SIZE, STORE_KEY_SIZE - 2);
    put32(node, get32(node) + 2);
}

/* A value of 15 bytes, and the free space grown by what is missing: the node is the last one. */
static void small_value(store_file *file) {
    uint8_t *leaf = ids_leaf(file);
    unsigned last = (get16(leaf + PAGE_LOWER) - PAGE_NODES) / 2u - 1;
    uint8_t *node = node_of(leaf, last);
    unsigned before = (unsigned)(8 + STORE_KEY_SIZE + get32(node) + 1) / 2 * 2;
    unsigned after = (8 + STORE_KEY_SIZE + 15 + 1) / 2 * 2;
    uint16_t start = (uint16_t)(get16(leaf + PAGE_UPPER) + before - after);
    memmove(leaf + start, node, 8 + STORE_KEY_SIZE);
    put32(leaf + start, 15);
    put16(leaf + PAGE_UPPER, start);
    put16(leaf + PAGE_NODES + 2 * last, start);
}

static void exchange_transactions(store_file *file) {
    uint8_t *newer = newer_meta(file), *older = older_meta(file);
    uint64_t number = get64(newer + META_TRANSACTION);
    put64(newer + META_TRANSACTION, get64(older + META_TRANSACTION));
    put64(older + META_TRANSACTION, number);
}

static void other_byte_order(store_file *file) {
    seal_of(file)[SEAL_BYTE_ORDER_AT] ^= 3;
}

/* Files that end wrongly, or are another thing. */
static void resize(store_file *file, size_t size) {
    file->bytes = realloc(file->bytes, size + 1);
    assert_non_null(file->bytes);
    if (size > file->size) memset(file->bytes + file->size, 0, size - file->size);
    file->size = size;
}

static void drop_seal(store_file *file) {
    resize(file, file->size - SEAL_SIZE);
}

static void empty_file(store_file *file) {
    resize(file, 0);
}

static void one_byte(store_file *file) {
    resize(file, 1);
}

static void other_file(store_file *file) {
    memset(file->bytes, 'x', file->size);
}

static void pointer_file(store_file *file) {
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    resize(file, sizeof pointer - 1);
    memcpy(file->bytes, pointer, sizeof pointer - 1);
}

static void cut_page(store_file *file) {
    resize(file, 8192);
}

static void cut_byte(store_file *file) {
    resize(file, file->size - 1);
}

static void add_byte(store_file *file) {
    resize(file, file->size + 1);
}

/* As LMDB 1.0 starts a file: a page header of 24 bytes. */
static void lmdb_1_0(store_file *file) {
    memmove(file->bytes + 24, file->bytes + 16, 512);
    memset(file->bytes + 16, 0, 8);
    put32(file->bytes + 28, 2);
    drop_seal(file);
}

static void lmdb_swapped(store_file *file) {
    put32(file->bytes + META_MAGIC, __builtin_bswap32(get32(file->bytes + META_MAGIC)));
    put32(file->bytes + META_VERSION, __builtin_bswap32(get32(file->bytes + META_VERSION)));
    drop_seal(file);
}

static void cut_middle(store_file *file) {
    memmove(seal_of(file) - 4096, seal_of(file), SEAL_SIZE);
    resize(file, file->size - 4096);
}

static void add_middle(store_file *file) {
    resize(file, file->size + 4096);
    memmove(seal_of(file), seal_of(file) - 4096, SEAL_SIZE);
}

static void flip_seal(store_file *file) {
    seal_of(file)[40] ^= 1;
}

static uint64_t page_count(const store_file *file) {
    return page_count_of(file);
}

static uint64_t last_page(const store_file *file) {
    return page_count_of(file) - 1;
}

/* Times the page size it is the same, modulo 2^64. */
static uint64_t wrapping_count(const store_file *file) {
    return page_count_of(file) + ((uint64_t)1 << 52);
}

static uint64_t lower_upper(const store_file *file) {
    return get16(ids_leaf(file) + PAGE_UPPER) - 2u;
}

typedef struct break_case {
    const char *name;
    /* A field: `width` bytes `at` bytes behind what is located, set to a value. */
    locate_fn locate;
    int at;
    int width;
    uint64_t value;
    uint64_t (*value_of)(const store_file *file);
    /* Or a change; or one that comes after the hashes are made right again. */
    void (*change)(store_file *file);
    void (*change_at_last)(store_file *file);
    recmap_status status;
    const char *message;
} break_case;

static const break_case cases[] = {
    {.name = "seal_is_absent",
     .change_at_last = drop_seal,
     .status = RECMAP_CORRUPT,
     .message =
         "there is no seal at the end: the index was cut short or something was added to it"},
    {.name = "file_is_empty",
     .change_at_last = empty_file,
     .status = RECMAP_CORRUPT,
     .message = "the file is empty, not an index"},
    {.name = "file_is_one_byte",
     .change_at_last = one_byte,
     .status = RECMAP_CORRUPT,
     .message = "the file is not a recmap index"},
    {.name = "file_is_another",
     .change_at_last = other_file,
     .status = RECMAP_CORRUPT,
     .message = "the file is not a recmap index"},
    {.name = "file_is_a_pointer",
     .change_at_last = pointer_file,
     .status = RECMAP_CORRUPT,
     .message = "the file is not a recmap index"},
    {.name = "file_is_cut_at_a_page",
     .change_at_last = cut_page,
     .status = RECMAP_CORRUPT,
     .message =
         "there is no seal at the end: the index was cut short or something was added to it"},
    {.name = "file_is_cut_by_a_byte",
     .change_at_last = cut_byte,
     .status = RECMAP_CORRUPT,
     .message =
         "there is no seal at the end: the index was cut short or something was added to it"},
    {.name = "file_has_a_byte_more",
     .change_at_last = add_byte,
     .status = RECMAP_CORRUPT,
     .message =
         "there is no seal at the end: the index was cut short or something was added to it"},
    {.name = "file_is_lmdb_1_0",
     .change_at_last = lmdb_1_0,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index is in LMDB's file format 2, this recmap reads format 1 (LMDB 0.9)"},
    {.name = "file_is_lmdb_of_the_other_byte_order",
     .change_at_last = lmdb_swapped,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a big-endian machine, which this one is not"},
    {.name = "pages_are_missing_before_the_seal",
     .change_at_last = cut_middle,
     .status = RECMAP_CORRUPT,
     .message = "the file has 213056 bytes, its seal says 217152"},
    {.name = "pages_were_added_before_the_seal",
     .change_at_last = add_middle,
     .status = RECMAP_CORRUPT,
     .message = "the file has 221248 bytes, its seal says 217152"},
    {.name = "seal_hash",
     .change_at_last = flip_seal,
     .status = RECMAP_CORRUPT,
     .message = "the seal at the end of the index is damaged"},
    {.name = "seal_version_newer",
     .locate = seal_of,
     .at = SEAL_VERSION_AT,
     .width = 4,
     .value = 2,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index is sealed in version 2, this recmap reads version 1"},
    {.name = "seal_version_zero",
     .locate = seal_of,
     .at = SEAL_VERSION_AT,
     .width = 4,
     .value = 0,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index is sealed in version 0, this recmap reads version 1"},
    {.name = "seal_lmdb_version",
     .locate = seal_of,
     .at = SEAL_LMDB_VERSION_AT,
     .width = 4,
     .value = 2,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index is in LMDB's file format 2, this recmap reads format 1 (LMDB 0.9)"},
    {.name = "seal_byte_order_other",
     .change = other_byte_order,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a big-endian machine, which this one is not"},
    {.name = "seal_byte_order_unknown",
     .locate = seal_of,
     .at = SEAL_BYTE_ORDER_AT,
     .width = 1,
     .value = 7,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a strange machine, which this one is not"},
    {.name = "seal_word_size_32",
     .locate = seal_of,
     .at = SEAL_WORD_SIZE_AT,
     .width = 1,
     .value = 4,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a 32-bit machine, which this one is not"},
    {.name = "seal_word_size_unknown",
     .locate = seal_of,
     .at = SEAL_WORD_SIZE_AT,
     .width = 1,
     .value = 0x10,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a strange machine, which this one is not"},
    {.name = "seal_zero_bytes",
     .locate = seal_of,
     .at = 22,
     .width = 2,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "the seal's bytes 22 and 23 are not zero"},
    {.name = "seal_file_size",
     .locate = seal_of,
     .at = SEAL_FILE_SIZE_AT,
     .width = 8,
     .value = 0x10000000000u,
     .status = RECMAP_CORRUPT,
     .message = "the file has 217152 bytes, its seal says 1099511627776"},
    {.name = "seal_page_size_zero",
     .locate = seal_of,
     .at = SEAL_PAGE_SIZE_AT,
     .width = 4,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "the seal's page size is 0"},
    {.name = "seal_page_size_odd",
     .locate = seal_of,
     .at = SEAL_PAGE_SIZE_AT,
     .width = 4,
     .value = 0x1001,
     .status = RECMAP_CORRUPT,
     .message = "the seal's page size is 4097"},
    {.name = "seal_page_size_large",
     .locate = seal_of,
     .at = SEAL_PAGE_SIZE_AT,
     .width = 4,
     .value = 0x10000,
     .status = RECMAP_CORRUPT,
     .message = "the seal's page size is 65536"},
    {.name = "seal_page_size_double",
     .locate = seal_of,
     .at = SEAL_PAGE_SIZE_AT,
     .width = 4,
     .value = 0x2000,
     .status = RECMAP_CORRUPT,
     .message = "the seal counts 53 pages of 8192 bytes in a file of 217152"},
    {.name = "seal_page_count_huge",
     .locate = seal_of,
     .at = SEAL_PAGE_COUNT_AT,
     .width = 8,
     .value = 0xffffffffffffffffu,
     .status = RECMAP_CORRUPT,
     .message = "the seal counts 18446744073709551615 pages of 4096 bytes in a file of 217152"},
    {.name = "seal_page_count_wraps",
     .locate = seal_of,
     .at = SEAL_PAGE_COUNT_AT,
     .width = 8,
     .value_of = wrapping_count,
     .status = RECMAP_CORRUPT,
     .message = "the seal counts 4503599627370549 pages of 4096 bytes in a file of 217152"},
    {.name = "seal_page_count_one",
     .locate = seal_of,
     .at = SEAL_PAGE_COUNT_AT,
     .width = 8,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "the seal counts 1 pages of 4096 bytes in a file of 217152"},
    {.name = "meta_number",
     .locate = newer_meta,
     .at = PAGE_NUMBER,
     .width = 8,
     .value = 7,
     .status = RECMAP_CORRUPT,
     .message = "meta page 0 is page 7 of kind 0x8"},
    {.name = "meta_kind",
     .locate = newer_meta,
     .at = PAGE_KIND,
     .width = 2,
     .value = 2,
     .status = RECMAP_CORRUPT,
     .message = "meta page 0 is page 0 of kind 0x2"},
    {.name = "meta_magic",
     .locate = newer_meta,
     .at = META_MAGIC,
     .width = 4,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "meta page 0 has magic 0x00000000"},
    {.name = "meta_version",
     .locate = newer_meta,
     .at = META_VERSION,
     .width = 4,
     .value = 0x3e7,
     .status = RECMAP_CORRUPT,
     .message = "meta page 0 is of LMDB's file format 999"},
    {.name = "meta_page_size_zero",
     .locate = newer_meta,
     .at = META_PAGE_SIZE,
     .width = 4,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "meta page 0 has a page size of 0, the seal has 4096"},
    {.name = "meta_page_size_other",
     .locate = newer_meta,
     .at = META_PAGE_SIZE,
     .width = 4,
     .value = 0x2000,
     .status = RECMAP_CORRUPT,
     .message = "meta page 0 has a page size of 8192, the seal has 4096"},
    {.name = "meta_last_page_less",
     .locate = newer_meta,
     .at = META_LAST_PAGE,
     .width = 8,
     .value = 5,
     .status = RECMAP_CORRUPT,
     .message = "the last page is 5, the seal counts 53 pages"},
    {.name = "meta_last_page_more",
     .locate = newer_meta,
     .at = META_LAST_PAGE,
     .width = 8,
     .value = 0x8000000000000000u,
     .status = RECMAP_CORRUPT,
     .message = "meta page 0 ends at page 9223372036854775808, the file has 53"},
    {.name = "older_meta_number",
     .locate = older_meta,
     .at = PAGE_NUMBER,
     .width = 8,
     .value = 7,
     .status = RECMAP_CORRUPT,
     .message = "meta page 1 is page 7 of kind 0x8"},
    {.name = "older_meta_kind",
     .locate = older_meta,
     .at = PAGE_KIND,
     .width = 2,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "meta page 1 is page 1 of kind 0x0"},
    {.name = "older_meta_magic",
     .locate = older_meta,
     .at = META_MAGIC,
     .width = 4,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "meta page 1 has magic 0x00000001"},
    {.name = "older_meta_version",
     .locate = older_meta,
     .at = META_VERSION,
     .width = 4,
     .value = 2,
     .status = RECMAP_CORRUPT,
     .message = "meta page 1 is of LMDB's file format 2"},
    {.name = "older_meta_page_size_zero",
     .locate = older_meta,
     .at = META_PAGE_SIZE,
     .width = 4,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "meta page 1 has a page size of 0, the seal has 4096"},
    {.name = "older_meta_last_page",
     .locate = older_meta,
     .at = META_LAST_PAGE,
     .width = 8,
     .value = 0xffffffffffffffffu,
     .status = RECMAP_CORRUPT,
     .message = "meta page 1 ends at page 18446744073709551615, the file has 53"},
    {.name = "older_meta_is_newer",
     .change = exchange_transactions,
     .status = RECMAP_CORRUPT,
     .message = "the last page is 2, the seal counts 53 pages"},
    {.name = "main_flags",
     .locate = main_record,
     .at = RECORD_FLAGS,
     .width = 2,
     .value = 4,
     .status = RECMAP_CORRUPT,
     .message = "table of tables has flags 0x4"},
    {.name = "main_depth_zero",
     .locate = main_record,
     .at = RECORD_DEPTH,
     .width = 2,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "7 tables on 0 levels, expected 7 on 1"},
    {.name = "main_depth_two",
     .locate = main_record,
     .at = RECORD_DEPTH,
     .width = 2,
     .value = 2,
     .status = RECMAP_CORRUPT,
     .message = "7 tables on 2 levels, expected 7 on 1"},
    {.name = "main_entries",
     .locate = main_record,
     .at = RECORD_ENTRIES,
     .width = 8,
     .value = 0x8000000000000000u,
     .status = RECMAP_CORRUPT,
     .message = "9223372036854775808 tables on 1 levels, expected 7 on 1"},
    {.name = "main_root_is_meta",
     .locate = main_record,
     .at = RECORD_ROOT,
     .width = 8,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 1 do not fit a file of 53 pages"},
    {.name = "main_root_none",
     .locate = main_record,
     .at = RECORD_ROOT,
     .width = 8,
     .value = 0xffffffffffffffffu,
     .status = RECMAP_CORRUPT,
     .message = "table of tables is 1 levels deep from root 18446744073709551615"},
    {.name = "main_root_outside",
     .locate = main_record,
     .at = RECORD_ROOT,
     .width = 8,
     .value = 0x10000000000u,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 1099511627776 do not fit a file of 53 pages"},
    {.name = "main_branches",
     .locate = main_record,
     .at = RECORD_BRANCHES,
     .width = 8,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "table of tables has 0 branch pages, its record says 1"},
    {.name = "main_leaves",
     .locate = main_record,
     .at = RECORD_LEAVES,
     .width = 8,
     .value = 2,
     .status = RECMAP_CORRUPT,
     .message = "table of tables has 1 leaf pages, its record says 2"},
    {.name = "main_overflows",
     .locate = main_record,
     .at = RECORD_OVERFLOWS,
     .width = 8,
     .value = 3,
     .status = RECMAP_CORRUPT,
     .message = "table of tables has 0 overflow pages, its record says 3"},
    {.name = "table_name_unknown",
     .change = unknown_table,
     .status = RECMAP_CORRUPT,
     .message = "there is a table of an unknown name"},
    {.name = "table_name_empty",
     .change = nameless_table,
     .status = RECMAP_CORRUPT,
     .message = "a key of 0 bytes in table of tables"},
    {.name = "table_name_long",
     .change = long_name,
     .status = RECMAP_CORRUPT,
     .message = "a key of 51 bytes in table of tables"},
    {.name = "table_missing",
     .change = drop_table,
     .status = RECMAP_CORRUPT,
     .message = "6 tables on 1 levels, expected 7 on 1"},
    {.name = "table_is_a_value",
     .locate = ids_names_node,
     .at = NODE_FLAGS,
     .width = 2,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "the entry of table ids has flags 0x0 and 48 bytes"},
    {.name = "table_is_of_duplicates",
     .locate = ids_names_node,
     .at = NODE_FLAGS,
     .width = 2,
     .value = 6,
     .status = RECMAP_CORRUPT,
     .message = "the entry of table ids has flags 0x6 and 48 bytes"},
    {.name = "table_names_out_of_order",
     .change = swap_names,
     .status = RECMAP_CORRUPT,
     .message = "keys of table of tables do not ascend in page 51"},
    {.name = "record_flags",
     .locate = ids_record,
     .at = RECORD_FLAGS,
     .width = 2,
     .value = 4,
     .status = RECMAP_CORRUPT,
     .message = "table ids has flags 0x4"},
    {.name = "record_depth_33",
     .locate = ids_record,
     .at = RECORD_DEPTH,
     .width = 2,
     .value = 0x21,
     .status = RECMAP_CORRUPT,
     .message = "table ids is 33 levels deep, at most 8 are possible"},
    {.name = "record_depth_65535",
     .locate = ids_record,
     .at = RECORD_DEPTH,
     .width = 2,
     .value = 0xffff,
     .status = RECMAP_CORRUPT,
     .message = "table ids is 65535 levels deep, at most 8 are possible"},
    {.name = "record_depth_less",
     .locate = ids_record,
     .at = RECORD_DEPTH,
     .width = 2,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "page 41 of table ids is of kind 0x1, expected 0x2"},
    {.name = "record_depth_more",
     .locate = ids_record,
     .at = RECORD_DEPTH,
     .width = 2,
     .value = 3,
     .status = RECMAP_CORRUPT,
     .message = "page 39 of table ids is of kind 0x2, expected 0x1"},
    {.name = "record_depth_without_root",
     .change = depth_without_root,
     .status = RECMAP_CORRUPT,
     .message = "table damage is 1 levels deep from root 18446744073709551615"},
    {.name = "record_root_without_depth",
     .locate = ids_record,
     .at = RECORD_DEPTH,
     .width = 2,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "table ids is 0 levels deep from root 41"},
    {.name = "record_root_none",
     .locate = ids_record,
     .at = RECORD_ROOT,
     .width = 8,
     .value = 0xffffffffffffffffu,
     .status = RECMAP_CORRUPT,
     .message = "table ids is 2 levels deep from root 18446744073709551615"},
    {.name = "record_root_outside",
     .locate = ids_record,
     .at = RECORD_ROOT,
     .width = 8,
     .value_of = page_count,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 53 do not fit a file of 53 pages"},
    {.name = "record_root_2_63",
     .locate = ids_record,
     .at = RECORD_ROOT,
     .width = 8,
     .value = 0x8000000000000000u,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 9223372036854775808 do not fit a file of 53 pages"},
    {.name = "record_root_shared",
     .change = share_root,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 44 are not free for their use"},
    {.name = "record_branches",
     .locate = ids_record,
     .at = RECORD_BRANCHES,
     .width = 8,
     .value = 2,
     .status = RECMAP_CORRUPT,
     .message = "table ids has 1 branch pages, its record says 2"},
    {.name = "record_leaves",
     .locate = ids_record,
     .at = RECORD_LEAVES,
     .width = 8,
     .value = 0x8000000000000000u,
     .status = RECMAP_CORRUPT,
     .message = "table ids has 4 leaf pages, its record says 9223372036854775808"},
    {.name = "record_overflows",
     .locate = offsets_record,
     .at = RECORD_OVERFLOWS,
     .width = 8,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "table offsets has 33 overflow pages, its record says 1"},
    {.name = "record_entries",
     .locate = ids_record,
     .at = RECORD_ENTRIES,
     .width = 8,
     .value = 0x8000000000000000u,
     .status = RECMAP_CORRUPT,
     .message = "table ids has 200 values, its record says 9223372036854775808"},
    {.name = "record_entries_of_empty_table",
     .locate = damage_record,
     .at = RECORD_ENTRIES,
     .width = 8,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "table damage has 0 values, its record says 1"},
    {.name = "page_number",
     .locate = ids_leaf,
     .at = PAGE_NUMBER,
     .width = 8,
     .value = 3,
     .status = RECMAP_CORRUPT,
     .message = "page 40 says that it is page 3"},
    {.name = "page_kind_zero",
     .locate = ids_leaf,
     .at = PAGE_KIND,
     .width = 2,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "page 40 of table ids is of kind 0x0, expected 0x2"},
    {.name = "page_kind_dirty",
     .locate = ids_leaf,
     .at = PAGE_KIND,
     .width = 2,
     .value = 0x12,
     .status = RECMAP_CORRUPT,
     .message = "page 40 of table ids is of kind 0x12, expected 0x2"},
    {.name = "page_kind_leaf2",
     .locate = ids_leaf,
     .at = PAGE_KIND,
     .width = 2,
     .value = 0x22,
     .status = RECMAP_CORRUPT,
     .message = "page 40 of table ids is of kind 0x22, expected 0x2"},
    {.name = "page_kind_branch_for_leaf",
     .locate = ids_leaf,
     .at = PAGE_KIND,
     .width = 2,
     .value = 1,
     .status = RECMAP_CORRUPT,
     .message = "page 40 of table ids is of kind 0x1, expected 0x2"},
    {.name = "page_kind_leaf_for_branch",
     .locate = ids_branch,
     .at = PAGE_KIND,
     .width = 2,
     .value = 2,
     .status = RECMAP_CORRUPT,
     .message = "page 41 of table ids is of kind 0x2, expected 0x1"},
    {.name = "page_lower_small",
     .locate = ids_leaf,
     .at = PAGE_LOWER,
     .width = 2,
     .value = 0xe,
     .status = RECMAP_CORRUPT,
     .message = "page 40 has its free space from 14 to 126"},
    {.name = "page_lower_odd",
     .locate = ids_leaf,
     .at = PAGE_LOWER,
     .width = 2,
     .value = 0x11,
     .status = RECMAP_CORRUPT,
     .message = "page 40 has its free space from 17 to 126"},
    {.name = "page_lower_over_upper",
     .locate = ids_leaf,
     .at = PAGE_LOWER,
     .width = 2,
     .value = 0xffe,
     .status = RECMAP_CORRUPT,
     .message = "page 40 has its free space from 4094 to 126"},
    {.name = "page_upper_over_page",
     .locate = ids_leaf,
     .at = PAGE_UPPER,
     .width = 2,
     .value = 0x1002,
     .status = RECMAP_CORRUPT,
     .message = "page 40 has its free space from 116 to 4098"},
    {.name = "page_upper_less",
     .locate = ids_leaf,
     .at = PAGE_UPPER,
     .width = 2,
     .value_of = lower_upper,
     .status = RECMAP_CORRUPT,
     .message = "the nodes of page 40 have 3970 bytes in a space of 3972"},
    {.name = "leaf_without_nodes",
     .change = empty_leaf,
     .status = RECMAP_CORRUPT,
     .message = "page 4 has only 0 nodes"},
    {.name = "branch_of_one_node",
     .change = thin_branch,
     .status = RECMAP_CORRUPT,
     .message = "page 41 has only 1 nodes"},
    {.name = "node_offset_odd",
     .locate = ids_leaf,
     .at = PAGE_NODES,
     .width = 2,
     .value = 0xfa1,
     .status = RECMAP_CORRUPT,
     .message = "node 0 of page 40 starts at 4001"},
    {.name = "node_offset_in_header",
     .locate = ids_leaf,
     .at = PAGE_NODES,
     .width = 2,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "node 0 of page 40 starts at 0"},
    {.name = "node_offset_at_end",
     .locate = ids_leaf,
     .at = PAGE_NODES,
     .width = 2,
     .value = 0xffa,
     .status = RECMAP_CORRUPT,
     .message = "node 0 of page 40 starts at 4090"},
    {.name = "node_offset_outside",
     .locate = ids_leaf,
     .at = PAGE_NODES,
     .width = 2,
     .value = 0xfffe,
     .status = RECMAP_CORRUPT,
     .message = "node 0 of page 40 starts at 65534"},
    {.name = "nodes_overlap",
     .change = overlapping_nodes,
     .status = RECMAP_CORRUPT,
     .message = "the nodes of page 4 have 3190 bytes in a space of 3192"},
    {.name = "node_key_over_page",
     .locate = ids_leaf_third,
     .at = NODE_KEY_SIZE,
     .width = 2,
     .value = 0xffff,
     .status = RECMAP_CORRUPT,
     .message = "node 2 of page 40 has 65602 bytes at 3860"},
    {.name = "node_size_over_page",
     .locate = ids_leaf_third,
     .at = NODE_SIZE,
     .width = 4,
     .value = 0xffffffffu,
     .status = RECMAP_CORRUPT,
     .message = "node 2 of page 40 has 4294967315 bytes at 3860"},
    {.name = "node_size_not_filling",
     .locate = ids_leaf_third,
     .at = NODE_SIZE,
     .width = 4,
     .value = 0x14,
     .status = RECMAP_CORRUPT,
     .message = "the nodes of page 40 have 3930 bytes in a space of 3970"},
    {.name = "node_flags_tree",
     .locate = ids_leaf_third,
     .at = NODE_FLAGS,
     .width = 2,
     .value = 2,
     .status = RECMAP_CORRUPT,
     .message = "a node with flags 0x2 in table ids"},
    {.name = "node_flags_duplicates",
     .locate = ids_leaf_third,
     .at = NODE_FLAGS,
     .width = 2,
     .value = 4,
     .status = RECMAP_CORRUPT,
     .message = "a node with flags 0x4 in table ids"},
    {.name = "node_key_size",
     .change = short_key,
     .status = RECMAP_CORRUPT,
     .message = "a key of 10 bytes in table ids"},
    {.name = "value_smaller_than_head",
     .change = small_value,
     .status = RECMAP_CORRUPT,
     .message = "a value of 15 bytes in table ids"},
    {.name = "value_over_limit",
     .locate = offsets_second,
     .at = NODE_SIZE,
     .width = 4,
     .value = 0x40000011,
     .status = RECMAP_CORRUPT,
     .message = "a value of 1073741841 bytes in table offsets"},
    {.name = "keys_out_of_order",
     .change = swap_ids,
     .status = RECMAP_CORRUPT,
     .message = "keys of table ids do not ascend in page 40"},
    {.name = "key_twice",
     .change = repeat_id,
     .status = RECMAP_CORRUPT,
     .message = "keys of table ids do not ascend in page 40"},
    {.name = "key_below_its_branch",
     .change = id_below_branch,
     .status = RECMAP_CORRUPT,
     .message = "keys of table ids do not ascend in page 40"},
    {.name = "branch_key_below_leaf",
     .change = branch_below_leaf,
     .status = RECMAP_CORRUPT,
     .message = "keys of table ids do not ascend in page 41"},
    {.name = "branch_first_key",
     .change = key_of_first_child,
     .status = RECMAP_CORRUPT,
     .message = "the first node of branch page 41 has a key"},
    {.name = "branch_child_outside",
     .locate = ids_branch_third,
     .at = NODE_FLAGS,
     .width = 2,
     .value = 0xffff,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 281470681743402 do not fit a file of 53 pages"},
    {.name = "branch_child_is_meta",
     .locate = ids_branch_third,
     .at = NODE_CHILD,
     .width = 4,
     .value = 0,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 0 do not fit a file of 53 pages"},
    {.name = "branch_child_shared",
     .change = share_leaf,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 40 are not free for their use"},
    {.name = "branch_child_is_itself",
     .change = cycle,
     .status = RECMAP_CORRUPT,
     .message = "1 page(s) from page 41 are not free for their use"},
    {.name = "large_value_shared",
     .change = share_value,
     .status = RECMAP_CORRUPT,
     .message = "2 page(s) from page 9 are not free for their use"},
    {.name = "large_value_over_tree",
     .change = value_over_tree,
     .status = RECMAP_CORRUPT,
     .message = "2 page(s) from page 41 are not free for their use"},
    {.name = "large_value_over_meta",
     .change = value_over_meta,
     .status = RECMAP_CORRUPT,
     .message = "2 page(s) from page 1 do not fit a file of 53 pages"},
    {.name = "large_value_outside",
     .locate = offsets_second,
     .at = NODE_LARGE_PAGE,
     .width = 8,
     .value_of = page_count,
     .status = RECMAP_CORRUPT,
     .message = "2 page(s) from page 53 do not fit a file of 53 pages"},
    {.name = "large_value_over_end",
     .locate = offsets_second,
     .at = NODE_LARGE_PAGE,
     .width = 8,
     .value_of = last_page,
     .status = RECMAP_CORRUPT,
     .message = "2 page(s) from page 52 do not fit a file of 53 pages"},
    {.name = "large_value_wraps",
     .locate = offsets_second,
     .at = NODE_LARGE_PAGE,
     .width = 8,
     .value = 0xffffffffffffffffu,
     .status = RECMAP_CORRUPT,
     .message = "2 page(s) from page 18446744073709551615 do not fit a file of 53 pages"},
    {.name = "large_value_longer",
     .locate = offsets_second,
     .at = NODE_SIZE,
     .width = 4,
     .value = 0x100000,
     .status = RECMAP_CORRUPT,
     .message = "257 page(s) from page 7 do not fit a file of 53 pages"},
};

static void apply(const break_case *broken, store_file *file) {
    if (broken->change) broken->change(file);
    if (broken->locate) {
        uint64_t value = broken->value_of ? broken->value_of(file) : broken->value;
        uint8_t *at = broken->locate(file) + broken->at;
        for (int i = 0; i < broken->width; i++) at[i] = (uint8_t)(value >> 8 * i);
    }
    file_reseal(file);
    if (broken->change_at_last) broken->change_at_last(file);
}

static void refuse(const break_case *broken, bool in_memory) {
    store *opened = NULL;
    store_options options = {.in_memory = in_memory};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = store_open(&opened, path, &options, &error);
    if (getenv("SHOW")) fprintf(stderr, "SHOW|%s|%d|%s\n", broken->name, status, error.message);
    assert_null(opened);
    assert_string_equal(error.message, broken->message);
    assert_int_equal(status, broken->status);
    assert_int_equal(error.status, broken->status);
    assert_string_equal(error.path, path);
    assert_true(error.advice[0] != 0);
    assert_true(error.offset == RECMAP_NO_OFFSET || error.offset < sample.size + 8192);
}

static void breaks(void **state) {
    const break_case *broken = *state;
    if (page_size_of(&sample) != 4096) skip();
    store_file file = file_copy(&sample);
    apply(broken, &file);
    file_save(path, file.bytes, file.size);
    file_free(&file);
    refuse(broken, false);
    refuse(broken, true);
}

int main(void) {
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, breaks, NULL, NULL, (void *)&cases[i]};
    return cmocka_run_group_tests(tests, enter, leave);
}
