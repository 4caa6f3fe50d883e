/* The invariants of LMDB's trees in the sealed file: tables, pages, nodes, values. Each is broken
 * alone, with every hash made right again, and must be refused with its own message. */
#include <string.h>

#include "support/index/store_breaks.h"

static uint8_t *ids_record(const struct store_file *file) {
    return record_of(file, STORE_IDS);
}

static uint8_t *offsets_record(const struct store_file *file) {
    return record_of(file, STORE_OFFSETS);
}

static uint8_t *damage_record(const struct store_file *file) {
    return record_of(file, STORE_DAMAGE);
}

static uint8_t *ids_names_node(const struct store_file *file) {
    return names_node(file, STORE_IDS);
}

static uint8_t *ids_branch(const struct store_file *file) {
    return root_of(file, STORE_IDS);
}

static uint8_t *ids_branch_third(const struct store_file *file) {
    return node_of(ids_branch(file), 2);
}

static uint8_t *ids_leaf(const struct store_file *file) {
    return child_of(file, ids_branch(file), 1);
}

static uint8_t *ids_leaf_third(const struct store_file *file) {
    return node_of(ids_leaf(file), 2);
}

static uint8_t *shards_leaf(const struct store_file *file) {
    return root_of(file, STORE_SHARDS);
}

static uint8_t *offsets_second(const struct store_file *file) {
    return node_of(root_of(file, STORE_OFFSETS), 1);
}

/* Breaks that are more than one field. */
static void exchange_first_two(uint8_t *page) {
    uint8_t *nodes = page + PAGE_NODES;
    uint16_t first = get16(nodes);
    put16(nodes, get16(nodes + 2));
    put16(nodes + 2, first);
}

static void swap_ids(struct store_file *file) {
    exchange_first_two(ids_leaf(file));
}

static void repeat_id(struct store_file *file) {
    memcpy(node_of(ids_leaf(file), 1) + NODE_KEY, node_of(ids_leaf(file), 0) + NODE_KEY,
           STORE_KEY_SIZE);
}

static void id_below_branch(struct store_file *file) {
    memset(node_of(ids_leaf(file), 0) + NODE_KEY, 0, STORE_KEY_SIZE);
}

static void branch_below_leaf(struct store_file *file) {
    memset(node_of(ids_branch(file), 1) + NODE_KEY, 0, STORE_KEY_SIZE);
}

static void key_of_first_child(struct store_file *file) {
    exchange_first_two(ids_branch(file));
}

static void share_leaf(struct store_file *file) {
    uint8_t *branch = ids_branch(file);
    memcpy(node_of(branch, 2), node_of(branch, 1), 6);
}

static void cycle(struct store_file *file) {
    uint8_t *branch = ids_branch(file);
    put32(node_of(branch, 1), (uint32_t)page_number(branch));
}

static void share_root(struct store_file *file) {
    memcpy(record_of(file, STORE_SHARDS), record_of(file, STORE_COLUMNS), 48);
}

static void share_value(struct store_file *file) {
    uint8_t *leaf = root_of(file, STORE_OFFSETS);
    memcpy(node_of(leaf, 3) + NODE_LARGE_PAGE, node_of(leaf, 2) + NODE_LARGE_PAGE, 8);
}

static void value_over_tree(struct store_file *file) {
    put64(offsets_second(file) + NODE_LARGE_PAGE, page_number(ids_branch(file)));
}

static void value_over_meta(struct store_file *file) {
    put64(offsets_second(file) + NODE_LARGE_PAGE, 1);
}

static void overlapping_nodes(struct store_file *file) {
    uint8_t *nodes = shards_leaf(file) + PAGE_NODES;
    put16(nodes + 2, get16(nodes));
}

static void long_name(struct store_file *file) {
    uint8_t *node = names_node(file, STORE_IDS);
    put16(node + NODE_KEY_SIZE, 51);
    put32(node, 0);
}

static void unknown_table(struct store_file *file) {
    names_node(file, STORE_IDS)[NODE_KEY] = 'j';
}

static void drop_table(struct store_file *file) {
    uint8_t *page = names_page(file);
    put16(page + PAGE_LOWER, (uint16_t)(get16(page + PAGE_LOWER) - 2));
    put64(main_record(file) + RECORD_ENTRIES, STORE_TABLE_COUNT - 1);
}

static void depth_without_root(struct store_file *file) {
    put16(damage_record(file) + RECORD_DEPTH, 1);
}

static void empty_leaf(struct store_file *file) {
    put16(shards_leaf(file) + PAGE_LOWER, PAGE_NODES);
}

static void thin_branch(struct store_file *file) {
    put16(ids_branch(file) + PAGE_LOWER, PAGE_NODES + 2);
}

static void nameless_table(struct store_file *file) {
    uint8_t *node = names_node(file, STORE_IDS);
    put16(node + NODE_KEY_SIZE, 0);
    put32(node, get32(node) + 3);
}

static void swap_names(struct store_file *file) {
    exchange_first_two(names_page(file));
}

/* One key shorter by 2, its value longer by 2. */
static void short_key(struct store_file *file) {
    uint8_t *node = ids_leaf_third(file);
    put16(node + NODE_KEY_SIZE, STORE_KEY_SIZE - 2);
    put32(node, get32(node) + 2);
}

/* A value of 15 bytes, and the free space grown by what is missing: the node is the last one. */
static void small_value(struct store_file *file) {
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

static uint64_t last_page(const struct store_file *file) {
    return page_count_of(file) - 1;
}

static uint64_t lower_upper(const struct store_file *file) {
    return get16(ids_leaf(file) + PAGE_UPPER) - 2u;
}

static const struct break_case cases[] = {
    {.name = "main_flags",
     .field = {main_record, RECORD_FLAGS, 2, 4},
     .message = "table of tables has flags 0x4"},
    {.name = "main_depth_zero",
     .field = {main_record, RECORD_DEPTH, 2, 0},
     .message = "8 tables on 0 levels, expected 8 on 1"},
    {.name = "main_depth_two",
     .field = {main_record, RECORD_DEPTH, 2, 2},
     .message = "8 tables on 2 levels, expected 8 on 1"},
    {.name = "main_entries",
     .field = {main_record, RECORD_ENTRIES, 8, 0x8000000000000000u},
     .message = "9223372036854775808 tables on 1 levels, expected 8 on 1"},
    {.name = "main_root_is_meta",
     .field = {main_record, RECORD_ROOT, 8, 1},
     .message = "1 page(s) from page 1 do not fit a file of 53 pages"},
    {.name = "main_root_none",
     .field = {main_record, RECORD_ROOT, 8, 0xffffffffffffffffu},
     .message = "table of tables is 1 levels deep from root 18446744073709551615"},
    {.name = "main_root_outside",
     .field = {main_record, RECORD_ROOT, 8, 0x10000000000u},
     .message = "1 page(s) from page 1099511627776 do not fit a file of 53 pages"},
    {.name = "main_branches",
     .field = {main_record, RECORD_BRANCHES, 8, 1},
     .message = "table of tables has 0 branch pages, its record says 1"},
    {.name = "main_leaves",
     .field = {main_record, RECORD_LEAVES, 8, 2},
     .message = "table of tables has 1 leaf pages, its record says 2"},
    {.name = "main_overflows",
     .field = {main_record, RECORD_OVERFLOWS, 8, 3},
     .message = "table of tables has 0 overflow pages, its record says 3"},
    {.name = "table_name_unknown",
     .change = unknown_table,
     .message = "there is a table of an unknown name"},
    {.name = "table_name_empty",
     .change = nameless_table,
     .message = "a key of 0 bytes in table of tables"},
    {.name = "table_name_long",
     .change = long_name,
     .message = "a key of 51 bytes in table of tables"},
    {.name = "table_missing",
     .change = drop_table,
     .message = "7 tables on 1 levels, expected 8 on 1"},
    {.name = "table_is_a_value",
     .field = {ids_names_node, NODE_FLAGS, 2, 0},
     .message = "the entry of table ids has flags 0x0 and 48 bytes"},
    {.name = "table_is_of_duplicates",
     .field = {ids_names_node, NODE_FLAGS, 2, 6},
     .message = "the entry of table ids has flags 0x6 and 48 bytes"},
    {.name = "table_names_out_of_order",
     .change = swap_names,
     .message = "keys of table of tables do not ascend in page 51"},
    {.name = "record_flags",
     .field = {ids_record, RECORD_FLAGS, 2, 4},
     .message = "table ids has flags 0x4"},
    {.name = "record_depth_33",
     .field = {ids_record, RECORD_DEPTH, 2, 0x21},
     .message = "table ids is 33 levels deep, at most 8 are possible"},
    {.name = "record_depth_65535",
     .field = {ids_record, RECORD_DEPTH, 2, 0xffff},
     .message = "table ids is 65535 levels deep, at most 8 are possible"},
    {.name = "record_depth_less",
     .field = {ids_record, RECORD_DEPTH, 2, 1},
     .message = "page 41 of table ids is of kind 0x1, expected 0x2"},
    {.name = "record_depth_more",
     .field = {ids_record, RECORD_DEPTH, 2, 3},
     .message = "page 39 of table ids is of kind 0x2, expected 0x1"},
    {.name = "record_depth_without_root",
     .change = depth_without_root,
     .message = "table damage is 1 levels deep from root 18446744073709551615"},
    {.name = "record_root_without_depth",
     .field = {ids_record, RECORD_DEPTH, 2, 0},
     .message = "table ids is 0 levels deep from root 41"},
    {.name = "record_root_none",
     .field = {ids_record, RECORD_ROOT, 8, 0xffffffffffffffffu},
     .message = "table ids is 2 levels deep from root 18446744073709551615"},
    {.name = "record_root_outside",
     .field = {ids_record, RECORD_ROOT, 8, 0},
     .value_of = page_count_of,
     .message = "1 page(s) from page 53 do not fit a file of 53 pages"},
    {.name = "record_root_2_63",
     .field = {ids_record, RECORD_ROOT, 8, 0x8000000000000000u},
     .message = "1 page(s) from page 9223372036854775808 do not fit a file of 53 pages"},
    {.name = "record_root_shared",
     .change = share_root,
     .message = "1 page(s) from page 44 are not free for their use"},
    {.name = "record_branches",
     .field = {ids_record, RECORD_BRANCHES, 8, 2},
     .message = "table ids has 1 branch pages, its record says 2"},
    {.name = "record_leaves",
     .field = {ids_record, RECORD_LEAVES, 8, 0x8000000000000000u},
     .message = "table ids has 4 leaf pages, its record says 9223372036854775808"},
    {.name = "record_overflows",
     .field = {offsets_record, RECORD_OVERFLOWS, 8, 1},
     .message = "table offsets has 33 overflow pages, its record says 1"},
    {.name = "record_entries",
     .field = {ids_record, RECORD_ENTRIES, 8, 0x8000000000000000u},
     .message = "table ids has 200 values, its record says 9223372036854775808"},
    {.name = "record_entries_of_empty_table",
     .field = {damage_record, RECORD_ENTRIES, 8, 1},
     .message = "table damage has 0 values, its record says 1"},
    {.name = "page_number",
     .field = {ids_leaf, PAGE_NUMBER, 8, 3},
     .message = "page 40 says that it is page 3"},
    {.name = "page_kind_zero",
     .field = {ids_leaf, PAGE_KIND, 2, 0},
     .message = "page 40 of table ids is of kind 0x0, expected 0x2"},
    {.name = "page_kind_dirty",
     .field = {ids_leaf, PAGE_KIND, 2, 0x12},
     .message = "page 40 of table ids is of kind 0x12, expected 0x2"},
    {.name = "page_kind_leaf2",
     .field = {ids_leaf, PAGE_KIND, 2, 0x22},
     .message = "page 40 of table ids is of kind 0x22, expected 0x2"},
    {.name = "page_kind_branch_for_leaf",
     .field = {ids_leaf, PAGE_KIND, 2, 1},
     .message = "page 40 of table ids is of kind 0x1, expected 0x2"},
    {.name = "page_kind_leaf_for_branch",
     .field = {ids_branch, PAGE_KIND, 2, 2},
     .message = "page 41 of table ids is of kind 0x2, expected 0x1"},
    {.name = "page_lower_small",
     .field = {ids_leaf, PAGE_LOWER, 2, 0xe},
     .message = "page 40 has its free space from 14 to 126"},
    {.name = "page_lower_odd",
     .field = {ids_leaf, PAGE_LOWER, 2, 0x11},
     .message = "page 40 has its free space from 17 to 126"},
    {.name = "page_lower_over_upper",
     .field = {ids_leaf, PAGE_LOWER, 2, 0xffe},
     .message = "page 40 has its free space from 4094 to 126"},
    {.name = "page_upper_over_page",
     .field = {ids_leaf, PAGE_UPPER, 2, 0x1002},
     .message = "page 40 has its free space from 116 to 4098"},
    {.name = "page_upper_less",
     .field = {ids_leaf, PAGE_UPPER, 2, 0},
     .value_of = lower_upper,
     .message = "the nodes of page 40 have 3970 bytes in a space of 3972"},
    {.name = "leaf_without_nodes", .change = empty_leaf, .message = "page 4 has only 0 nodes"},
    {.name = "branch_of_one_node", .change = thin_branch, .message = "page 41 has only 1 node"},
    {.name = "node_offset_odd",
     .field = {ids_leaf, PAGE_NODES, 2, 0xfa1},
     .message = "node 0 of page 40 starts at 4001"},
    {.name = "node_offset_in_header",
     .field = {ids_leaf, PAGE_NODES, 2, 0},
     .message = "node 0 of page 40 starts at 0"},
    {.name = "node_offset_at_end",
     .field = {ids_leaf, PAGE_NODES, 2, 0xffa},
     .message = "node 0 of page 40 starts at 4090"},
    {.name = "node_offset_outside",
     .field = {ids_leaf, PAGE_NODES, 2, 0xfffe},
     .message = "node 0 of page 40 starts at 65534"},
    {.name = "nodes_overlap",
     .change = overlapping_nodes,
     .message = "the nodes of page 4 have 3190 bytes in a space of 3192"},
    {.name = "node_key_over_page",
     .field = {ids_leaf_third, NODE_KEY_SIZE, 2, 0xffff},
     .message = "node 2 of page 40 has 65602 bytes at 3860"},
    {.name = "node_size_over_page",
     .field = {ids_leaf_third, NODE_SIZE, 4, 0xffffffffu},
     .message = "node 2 of page 40 has 4294967315 bytes at 3860"},
    {.name = "node_size_not_filling",
     .field = {ids_leaf_third, NODE_SIZE, 4, 0x14},
     .message = "the nodes of page 40 have 3930 bytes in a space of 3970"},
    {.name = "node_flags_tree",
     .field = {ids_leaf_third, NODE_FLAGS, 2, 2},
     .message = "a node with flags 0x2 in table ids"},
    {.name = "node_flags_duplicates",
     .field = {ids_leaf_third, NODE_FLAGS, 2, 4},
     .message = "a node with flags 0x4 in table ids"},
    {.name = "node_key_size", .change = short_key, .message = "a key of 10 bytes in table ids"},
    {.name = "value_smaller_than_head",
     .change = small_value,
     .message = "a value of 15 bytes in table ids"},
    {.name = "value_over_limit",
     .field = {offsets_second, NODE_SIZE, 4, 0x40000011},
     .message = "a value of 1073741841 bytes in table offsets"},
    {.name = "keys_out_of_order",
     .change = swap_ids,
     .message = "keys of table ids do not ascend in page 40"},
    {.name = "key_twice",
     .change = repeat_id,
     .message = "keys of table ids do not ascend in page 40"},
    {.name = "key_below_its_branch",
     .change = id_below_branch,
     .message = "keys of table ids do not ascend in page 40"},
    {.name = "branch_key_below_leaf",
     .change = branch_below_leaf,
     .message = "keys of table ids do not ascend in page 41"},
    {.name = "branch_first_key",
     .change = key_of_first_child,
     .message = "the first node of branch page 41 has a key"},
    {.name = "branch_child_outside",
     .field = {ids_branch_third, NODE_FLAGS, 2, 0xffff},
     .message = "1 page(s) from page 281470681743402 do not fit a file of 53 pages"},
    {.name = "branch_child_is_meta",
     .field = {ids_branch_third, NODE_CHILD, 4, 0},
     .message = "1 page(s) from page 0 do not fit a file of 53 pages"},
    {.name = "branch_child_shared",
     .change = share_leaf,
     .message = "1 page(s) from page 40 are not free for their use"},
    {.name = "branch_child_is_itself",
     .change = cycle,
     .message = "1 page(s) from page 41 are not free for their use"},
    {.name = "large_value_shared",
     .change = share_value,
     .message = "2 page(s) from page 9 are not free for their use"},
    {.name = "large_value_over_tree",
     .change = value_over_tree,
     .message = "2 page(s) from page 41 are not free for their use"},
    {.name = "large_value_over_meta",
     .change = value_over_meta,
     .message = "2 page(s) from page 1 do not fit a file of 53 pages"},
    {.name = "large_value_outside",
     .field = {offsets_second, NODE_LARGE_PAGE, 8, 0},
     .value_of = page_count_of,
     .message = "2 page(s) from page 53 do not fit a file of 53 pages"},
    {.name = "large_value_over_end",
     .field = {offsets_second, NODE_LARGE_PAGE, 8, 0},
     .value_of = last_page,
     .message = "2 page(s) from page 52 do not fit a file of 53 pages"},
    {.name = "large_value_wraps",
     .field = {offsets_second, NODE_LARGE_PAGE, 8, 0xffffffffffffffffu},
     .message = "2 page(s) from page 18446744073709551615 do not fit a file of 53 pages"},
    {.name = "large_value_longer",
     .field = {offsets_second, NODE_SIZE, 4, 0x100000},
     .message = "257 page(s) from page 7 do not fit a file of 53 pages"},
};

int main(void) {
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++) tests[i] = store_break_test(&cases[i]);
    return cmocka_run_group_tests(tests, store_breaks_enter, store_breaks_leave);
}
