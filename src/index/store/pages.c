#include "index/store/pages.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/os/file.h"
#include "index/store/seal.h"

/* A page starts with its own number (8 bytes), 2 unused bytes, its kind (2), and start and end of
 * its free space (2 and 2). The offsets of its nodes follow, 2 bytes each; the nodes themselves are
 * at the page's end. */
enum {
    PAGE_KIND = 10,
    PAGE_LOWER = 12,
    PAGE_UPPER = 14,
    PAGE_HEADER = 16,
    KIND_BRANCH = 1,
    KIND_LEAF = 2,
    KIND_META = 8,
};

/* Offsets in a meta page. */
enum {
    META_MAGIC = 16,
    META_VERSION = 20,
    META_PAGE_SIZE = 40, /* stored in the record of the tree of free pages */
    META_MAIN = 88,      /* the record of the table of tables */
    META_LAST_PAGE = 136,
    META_TRANSACTION = 144,
    META_SIZE = 152,
    META_COUNT = 2,
};

/* Offsets in the record that describes a tree. */
enum {
    RECORD_FLAGS = 4,
    RECORD_DEPTH = 6,
    RECORD_BRANCHES = 8,
    RECORD_LEAVES = 16,
    RECORD_OVERFLOWS = 24,
    RECORD_ENTRIES = 32,
    RECORD_ROOT = 40,
    RECORD_SIZE = 48,
};

/* A node starts with 6 bytes that are, in a leaf, the size of the value (4) and flags (2), and in a
 * branch the number of a page. The size of the key (2) and the key follow. A leaf's node ends with
 * the value, or, if it is large, with the number of the first page of its run (8). */
enum {
    NODE_FLAGS = 4,
    NODE_KEY_SIZE = 6,
    NODE_HEADER = 8,
    NODE_IS_LARGE = 1,
    NODE_IS_TREE = 2,
};

#define LMDB_MAGIC 0xbeefc0deu
#define NO_PAGE UINT64_MAX

/* A branch holds over a hundred nodes, so deeper trees would need more values than fit a file. */
enum { DEPTH_LIMIT = 8 };

/* No valid key is longer: names of tables, or STORE_KEY_SIZE bytes. */
enum { KEY_MAX = 16 };

/* LMDB uses the machine's byte order. The seal guarantees that it is this machine's. */
static uint16_t number16(const uint8_t *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint32_t number32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t number64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* The check of one file. */
struct file_check {
    const struct page_source *source;
    uint32_t page_size;
    uint64_t page_count;
    uint64_t *claimed; /* a bit per page: it is in use */
    uint8_t *levels;   /* room for one page per level of a tree, and one for the table of tables */
    struct page_listing *listing;
    recmap_error *error;
};

/* The check of one tree. */
struct tree_check {
    struct file_check *file;
    const char *name;
    int table; /* a store_table, or STORE_TABLE_COUNT for the table of tables */
    unsigned depth;
    uint64_t root, branches, leaves, overflows, entries; /* according to the record */
    uint64_t seen_branches, seen_leaves, seen_overflows, seen_entries;
    uint8_t last_key[KEY_MAX]; /* the previous key: a lower bound for the next one */
    size_t last_key_size;
    bool last_may_repeat; /* it is a branch's key, which may be repeated by its first leaf */
    uint64_t record_offset;
};

/* A page of a tree in memory. */
struct page_view {
    const uint8_t *bytes;
    uint64_t number;
    size_t node_count;
};

static recmap_status damaged(const struct file_check *file, uint64_t offset, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

static recmap_status damaged(const struct file_check *file, uint64_t offset, const char *format,
                             ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fail(file->error, RECMAP_CORRUPT, "%s", message);
    fail_at(file->error, file->source->path, RECMAP_NO_RECORD, offset);
    fail_advise(file->error, "the index is damaged: build it again with `recmap index`");
    return RECMAP_CORRUPT;
}

static uint64_t offset_of(const struct file_check *file, uint64_t page) {
    return page * file->page_size;
}

static recmap_status read_bytes(const struct file_check *file, uint8_t *out, size_t size,
                                uint64_t offset) {
    const struct page_source *source = file->source;
    if (!source->data)
        return file_read_at(source->fd, out, size, offset, source->path, file->error);
    memcpy(out, source->data + offset, size);
    return RECMAP_OK;
}

/* Sets the bits of a run of pages. False if one was set already. */
static bool claim_bits(uint64_t *bits, uint64_t first, uint64_t count) {
    while (count) {
        unsigned start = first % 64;
        unsigned width = count < 64 - start ? (unsigned)count : 64 - start;
        uint64_t mask = (width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1) << start;
        if (bits[first / 64] & mask) return false;
        bits[first / 64] |= mask;
        first += width;
        count -= width;
    }
    return true;
}

/* Claims a run of pages for one use. Pages are claimed before they are read: a forged file that
 * uses a page twice, for example as its own child, is rejected before it can cause endless
 * recursion. `source_offset` is the byte that names the pages, for the error. */
static recmap_status claim(const struct file_check *file, uint64_t first, uint64_t count,
                           uint64_t source_offset) {
    if (first < META_COUNT || !bytes_fit(first, count, file->page_count))
        return damaged(file, source_offset,
                       "%" PRIu64 " page(s) from page %" PRIu64 " do not fit a file of %" PRIu64
                       " pages",
                       count, first, file->page_count);
    if (claim_bits(file->claimed, first, count)) return RECMAP_OK;
    return damaged(file, source_offset,
                   "%" PRIu64 " page(s) from page %" PRIu64 " are not free for their use", count,
                   first);
}

/* Reads a page of a tree and checks its header.
 *
 * A page stays in memory while its children are checked, and its nodes were checked when it was
 * read: so each level needs a buffer of its own. The table of tables has only one level (see
 * check_file), and its leaf stays in place 0 while the trees of its entries, which are read into
 * the places after it, are checked. */
static recmap_status load_page(struct tree_check *tree, struct page_view *page, uint64_t number,
                               unsigned level) {
    struct file_check *file = tree->file;
    assert(level < tree->depth && tree->depth <= DEPTH_LIMIT && number < file->page_count);
    size_t place = tree->table == STORE_TABLE_COUNT ? 0 : level + 1;
    uint8_t *bytes = file->levels + place * file->page_size;
    uint64_t offset = offset_of(file, number);
    RETURN_IF_FAILED(read_bytes(file, bytes, file->page_size, offset));
    unsigned kind = level + 1 == tree->depth ? KIND_LEAF : KIND_BRANCH;
    unsigned lower = number16(bytes + PAGE_LOWER), upper = number16(bytes + PAGE_UPPER);
    if (number64(bytes) != number)
        return damaged(file, offset, "page %" PRIu64 " says that it is page %" PRIu64, number,
                       number64(bytes));
    if (number16(bytes + PAGE_KIND) != kind)
        return damaged(file, offset + PAGE_KIND,
                       "page %" PRIu64 " of table %s is of kind 0x%x, expected 0x%x", number,
                       tree->name, number16(bytes + PAGE_KIND), kind);
    if (lower < PAGE_HEADER || lower % 2 || lower > upper || upper > file->page_size)
        return damaged(file, offset + PAGE_LOWER,
                       "page %" PRIu64 " has its free space from %u to %u", number, lower, upper);
    size_t node_count = (lower - PAGE_HEADER) / 2;
    if (node_count < (kind == KIND_LEAF ? 1 : 2))
        return damaged(file, offset + PAGE_LOWER, "page %" PRIu64 " has only %zu node%s", number,
                       node_count, plural(node_count));
    *page = (struct page_view){bytes, number, node_count};
    return RECMAP_OK;
}

/* The size of a node whose header lies within the page. The sum of 16-bit and 32-bit numbers cannot
 * overflow 64 bits. */
static uint64_t node_size(const uint8_t *node, bool is_leaf) {
    uint64_t size = NODE_HEADER + (uint64_t)number16(node + NODE_KEY_SIZE);
    if (!is_leaf) return size;
    return size + (number16(node + NODE_FLAGS) & NODE_IS_LARGE ? 8 : number32(node));
}

/* Checks that the nodes have even offsets, lie within the used part of the page, and fill it. The
 * bounds are what memory safety needs. The sum catches damage that moves or resizes a node. */
static recmap_status check_nodes(const struct tree_check *tree, const struct page_view *page,
                                 bool is_leaf) {
    const struct file_check *file = tree->file;
    uint64_t used = 0, offset = offset_of(file, page->number);
    unsigned upper = number16(page->bytes + PAGE_UPPER);
    for (size_t i = 0; i < page->node_count; i++) {
        unsigned start = number16(page->bytes + PAGE_HEADER + 2 * i);
        if (start % 2 || start < upper || start + NODE_HEADER > file->page_size)
            return damaged(file, offset + PAGE_HEADER + 2 * i,
                           "node %zu of page %" PRIu64 " starts at %u", i, page->number, start);
        uint64_t size = node_size(page->bytes + start, is_leaf);
        if (!bytes_fit(start, size, file->page_size))
            return damaged(file, offset + start,
                           "node %zu of page %" PRIu64 " has %" PRIu64 " bytes at %u", i,
                           page->number, size, start);
        used += size + size % 2;
    }
    if (used != file->page_size - upper)
        return damaged(file, offset,
                       "the nodes of page %" PRIu64 " have %" PRIu64 " bytes in a space of %u",
                       page->number, used, file->page_size - upper);
    return RECMAP_OK;
}

static const uint8_t *node_at(const struct page_view *page, size_t i) {
    return page->bytes + number16(page->bytes + PAGE_HEADER + 2 * i);
}

static uint64_t node_offset(const struct tree_check *tree, const struct page_view *page,
                            const uint8_t *node) {
    return offset_of(tree->file, page->number) + (uint64_t)(node - page->bytes);
}

static int compare_keys(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

/* Checks the next key in the order of the whole tree. They must ascend: LMDB searches by them, and
 * the listing is in their order. A branch's key is a lower bound of the keys below it: the first of
 * them may be equal to it, all others must be greater. Comparing each key with the previous one, in
 * the order in which the tree is traversed, covers both. */
static recmap_status check_key(struct tree_check *tree, const struct page_view *page,
                               const uint8_t *node, bool is_leaf) {
    const uint8_t *key = node + NODE_HEADER;
    size_t size = number16(node + NODE_KEY_SIZE);
    bool is_names = tree->table == STORE_TABLE_COUNT;
    if (is_names ? size < 1 || size > KEY_MAX : size != STORE_KEY_SIZE)
        return damaged(tree->file, node_offset(tree, page, node), "a key of %zu bytes in table %s",
                       size, tree->name);
    int order = compare_keys(tree->last_key, tree->last_key_size, key, size);
    if (order > 0 || (order == 0 && !tree->last_may_repeat))
        return damaged(tree->file, node_offset(tree, page, node),
                       "keys of table %s do not ascend in page %" PRIu64, tree->name, page->number);
    memcpy(tree->last_key, key, size);
    tree->last_key_size = size;
    tree->last_may_repeat = !is_leaf;
    return RECMAP_OK;
}

static recmap_status list_value(struct tree_check *tree, const uint8_t *node, uint64_t offset,
                                uint64_t size) {
    assert(size >= VALUE_PREFIX_SIZE && bytes_fit(offset, size, tree->file->source->size));
    struct page_listing *listing = tree->file->listing;
    size_t count = listing->tables[tree->table].count;
    if (!array_reserve(&listing->tables[tree->table].values, &listing->tables[tree->table].capacity,
                       count + 1, sizeof(struct page_value)))
        return fail_memory(tree->file->error);
    listing->tables[tree->table].values[count] =
        (struct page_value){key_decode(node + NODE_HEADER), offset, size};
    listing->tables[tree->table].count++;
    return RECMAP_OK;
}

/* Checks a node of a table and lists its value, which follows the key or has pages of its own. */
static recmap_status check_value(struct tree_check *tree, const struct page_view *page,
                                 const uint8_t *node) {
    struct file_check *file = tree->file;
    uint64_t offset = node_offset(tree, page, node), size = number32(node);
    unsigned flags = number16(node + NODE_FLAGS);
    if (flags & ~(unsigned)NODE_IS_LARGE)
        return damaged(file, offset, "a node with flags 0x%x in table %s", flags, tree->name);
    if (size < VALUE_PREFIX_SIZE || size - VALUE_PREFIX_SIZE > STORE_VALUE_LIMIT)
        return damaged(file, offset, "a value of %" PRIu64 " bytes in table %s", size, tree->name);
    if (!(flags & NODE_IS_LARGE))
        return list_value(tree, node, offset + NODE_HEADER + STORE_KEY_SIZE, size);
    uint64_t first = number64(node + NODE_HEADER + STORE_KEY_SIZE);
    uint64_t count = (PAGE_HEADER + size + file->page_size - 1) / file->page_size;
    RETURN_IF_FAILED(claim(file, first, count, offset));
    tree->seen_overflows += count;
    return list_value(tree, node, offset_of(file, first) + PAGE_HEADER, size);
}

static recmap_status check_table(struct tree_check *tree, const struct page_view *page,
                                 const uint8_t *node);

static recmap_status check_leaf(struct tree_check *tree, const struct page_view *page) {
    recmap_status status = check_nodes(tree, page, true);
    tree->seen_leaves++;
    for (size_t i = 0; status == RECMAP_OK && i < page->node_count; i++) {
        const uint8_t *node = node_at(page, i);
        status = check_key(tree, page, node, true);
        if (status != RECMAP_OK) break;
        tree->seen_entries++;
        status = tree->table == STORE_TABLE_COUNT ? check_table(tree, page, node)
                                                  : check_value(tree, page, node);
    }
    return status;
}

static recmap_status check_page(struct tree_check *tree, uint64_t number, unsigned level,
                                uint64_t source_offset);

static recmap_status check_branch(struct tree_check *tree, const struct page_view *page,
                                  unsigned level) {
    RETURN_IF_FAILED(check_nodes(tree, page, false));
    tree->seen_branches++;
    for (size_t i = 0; i < page->node_count; i++) {
        const uint8_t *node = node_at(page, i);
        uint64_t child = number32(node) | (uint64_t)number16(node + NODE_FLAGS) << 32;
        uint64_t offset = node_offset(tree, page, node);
        /* The first node covers all keys below the second node's: LMDB stores no key in it. */
        if (i > 0) RETURN_IF_FAILED(check_key(tree, page, node, false));
        else if (number16(node + NODE_KEY_SIZE))
            return damaged(tree->file, offset,
                           "the first node of branch page %" PRIu64 " has a key", page->number);
        RETURN_IF_FAILED(check_page(tree, child, level + 1, offset));
    }
    return RECMAP_OK;
}

/* Checks a page and everything below it. The recursion is as deep as the tree, which is limited. */
static recmap_status check_page(struct tree_check *tree, uint64_t number, unsigned level,
                                uint64_t source_offset) {
    struct page_view page;
    RETURN_IF_FAILED(claim(tree->file, number, 1, source_offset));
    RETURN_IF_FAILED(load_page(tree, &page, number, level));
    return level + 1 == tree->depth ? check_leaf(tree, &page) : check_branch(tree, &page, level);
}

static recmap_status check_count(const struct tree_check *tree, const char *what, uint64_t recorded,
                                 uint64_t seen) {
    if (recorded == seen) return RECMAP_OK;
    return damaged(tree->file, tree->record_offset,
                   "table %s has %" PRIu64 " %s, its record says %" PRIu64, tree->name, seen, what,
                   recorded);
}

static recmap_status check_counts(const struct tree_check *tree) {
    RETURN_IF_FAILED(check_count(tree, "branch pages", tree->branches, tree->seen_branches));
    RETURN_IF_FAILED(check_count(tree, "leaf pages", tree->leaves, tree->seen_leaves));
    RETURN_IF_FAILED(check_count(tree, "overflow pages", tree->overflows, tree->seen_overflows));
    return check_count(tree, "values", tree->entries, tree->seen_entries);
}

/* Checks a whole tree, starting from its record. */
static recmap_status check_tree(struct file_check *file, const char *name, int table,
                                const uint8_t *record, uint64_t record_offset) {
    struct tree_check tree = {.file = file,
                              .name = name,
                              .table = table,
                              .depth = number16(record + RECORD_DEPTH),
                              .branches = number64(record + RECORD_BRANCHES),
                              .leaves = number64(record + RECORD_LEAVES),
                              .overflows = number64(record + RECORD_OVERFLOWS),
                              .entries = number64(record + RECORD_ENTRIES),
                              .root = number64(record + RECORD_ROOT),
                              .record_offset = record_offset};
    if (number16(record + RECORD_FLAGS))
        return damaged(file, record_offset, "table %s has flags 0x%x", name,
                       number16(record + RECORD_FLAGS));
    if (tree.depth > DEPTH_LIMIT)
        return damaged(file, record_offset, "table %s is %u levels deep, at most %d are possible",
                       name, tree.depth, DEPTH_LIMIT);
    if ((tree.root == NO_PAGE) != (tree.depth == 0))
        return damaged(file, record_offset, "table %s is %u levels deep from root %" PRIu64, name,
                       tree.depth, tree.root);
    if (tree.depth) RETURN_IF_FAILED(check_page(&tree, tree.root, 0, record_offset));
    return check_counts(&tree);
}

static int find_table(const uint8_t *name, size_t size) {
    int table = 0;
    for (; table < STORE_TABLE_COUNT; table++)
        if (strlen(store_table_name(table)) == size && !memcmp(store_table_name(table), name, size))
            break;
    return table;
}

/* Checks an entry of the table of tables, which is a name and the record of a tree, and that tree.
 * The key check of the table of tables rejects duplicate tree. */
static recmap_status check_table(struct tree_check *tree, const struct page_view *page,
                                 const uint8_t *node) {
    struct file_check *file = tree->file;
    uint64_t offset = node_offset(tree, page, node);
    size_t key_size = number16(node + NODE_KEY_SIZE);
    int table = find_table(node + NODE_HEADER, key_size);
    if (table == STORE_TABLE_COUNT)
        return damaged(file, offset, "there is a table of an unknown name");
    if (number16(node + NODE_FLAGS) != NODE_IS_TREE || number32(node) != RECORD_SIZE)
        return damaged(file, offset, "the entry of table %s has flags 0x%x and %" PRIu32 " bytes",
                       store_table_name(table), number16(node + NODE_FLAGS), number32(node));
    return check_tree(file, store_table_name(table), table, node + NODE_HEADER + key_size,
                      offset + NODE_HEADER + key_size);
}

/* Both metas are checked, although LMDB uses one: it chooses by their transaction numbers, after
 * reading both. */
static recmap_status check_meta(const struct file_check *file, const uint8_t *meta,
                                uint64_t number) {
    uint64_t offset = offset_of(file, number);
    if (number64(meta) != number || number16(meta + PAGE_KIND) != KIND_META)
        return damaged(file, offset, "meta page %" PRIu64 " is page %" PRIu64 " of kind 0x%x",
                       number, number64(meta), number16(meta + PAGE_KIND));
    if (number32(meta + META_MAGIC) != LMDB_MAGIC)
        return damaged(file, offset + META_MAGIC, "meta page %" PRIu64 " has magic 0x%08" PRIx32,
                       number, number32(meta + META_MAGIC));
    if (number32(meta + META_VERSION) != SEAL_LMDB_VERSION)
        return damaged(file, offset + META_VERSION,
                       "meta page %" PRIu64 " is of LMDB's file format %" PRIu32, number,
                       number32(meta + META_VERSION));
    if (number32(meta + META_PAGE_SIZE) != file->page_size)
        return damaged(file, offset + META_PAGE_SIZE,
                       "meta page %" PRIu64 " has a page size of %" PRIu32
                       ", the seal has %" PRIu32,
                       number, number32(meta + META_PAGE_SIZE), file->page_size);
    if (number64(meta + META_LAST_PAGE) >= file->page_count)
        return damaged(file, offset + META_LAST_PAGE,
                       "meta page %" PRIu64 " ends at page %" PRIu64 ", the file has %" PRIu64,
                       number, number64(meta + META_LAST_PAGE), file->page_count);
    return RECMAP_OK;
}

/* Checks both meta pages, and the trees of the newer one, which is the one LMDB uses. Its last page
 * must be the file's last, so that no page of the file lies outside of the bounds that LMDB uses.
 */
static recmap_status check_file(struct file_check *file) {
    uint8_t metas[META_COUNT][META_SIZE];
    if (file->page_count < META_COUNT)
        return damaged(file, 0, "%" PRIu64 " page(s) are too few for an LMDB file",
                       file->page_count);
    for (unsigned i = 0; i < META_COUNT; i++) {
        RETURN_IF_FAILED(read_bytes(file, metas[i], META_SIZE, offset_of(file, i)));
        RETURN_IF_FAILED(check_meta(file, metas[i], i));
    }
    unsigned newer = number64(metas[0] + META_TRANSACTION) < number64(metas[1] + META_TRANSACTION);
    const uint8_t *meta = metas[newer];
    uint64_t offset = offset_of(file, newer);
    if (number64(meta + META_LAST_PAGE) + 1 != file->page_count)
        return damaged(file, offset + META_LAST_PAGE,
                       "the last page is %" PRIu64 ", the seal counts %" PRIu64 " pages",
                       number64(meta + META_LAST_PAGE), file->page_count);
    const uint8_t *record = meta + META_MAIN;
    if (number16(record + RECORD_DEPTH) != 1 ||
        number64(record + RECORD_ENTRIES) != STORE_TABLE_COUNT)
        return damaged(
            file, offset + META_MAIN, "%" PRIu64 " tables on %u levels, expected %d on 1",
            number64(record + RECORD_ENTRIES), number16(record + RECORD_DEPTH), STORE_TABLE_COUNT);
    return check_tree(file, "of tables", STORE_TABLE_COUNT, record, offset + META_MAIN);
}

recmap_status pages_check(struct page_listing *listing, const struct page_source *source,
                          uint32_t page_size, recmap_error *error) {
    struct page_listing fresh = {0};
    struct file_check file = {.source = source,
                              .page_size = page_size,
                              .page_count = source->size / page_size,
                              .listing = &fresh,
                              .error = error};
    file.levels = malloc((size_t)(DEPTH_LIMIT + 1) * page_size);
    file.claimed = calloc((size_t)(file.page_count / 64 + 1), sizeof *file.claimed);
    recmap_status status = file.levels && file.claimed ? check_file(&file) : fail_memory(error);
    free(file.levels);
    free(file.claimed);
    if (status == RECMAP_OK) *listing = fresh;
    else page_listing_deinit(&fresh);
    return status;
}

void page_listing_deinit(struct page_listing *listing) {
    for (int table = 0; table < STORE_TABLE_COUNT; table++) free(listing->tables[table].values);
    *listing = (struct page_listing){0};
}
