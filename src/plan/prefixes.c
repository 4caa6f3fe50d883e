#include "plan/heads.h"

#include <stdlib.h>
#include <string.h>

#include "plan/convert.h"

enum {
    BYTES_LIST_TAG = 0x0a,
    FLOAT_LIST_TAG = 0x12,
    INT64_LIST_TAG = 0x1a,
    FIELD_1_TAG = 0x0a,
    FIELD_2_TAG = 0x12,
    LENGTH_MAX = 127,
    CELL_BITS_MAX = 16,
};

static uint8_t list_tag(recmap_type list) {
    if (list == RECMAP_TYPE_INT64) return INT64_LIST_TAG;
    return list == RECMAP_TYPE_FLOAT ? FLOAT_LIST_TAG : BYTES_LIST_TAG;
}

static head_way way_of(const struct slot *slot) {
    bool is_one = slot->count == 1;
    if (slot->raw) return HEAD_RUN;
    if (slot->list == RECMAP_TYPE_INT64) return is_one ? HEAD_INT : HEAD_INTS;
    if (slot->element == RECMAP_ELEMENT_FLOAT32) return is_one ? HEAD_FLOAT : HEAD_FLOATS;
    if (slot->list == RECMAP_TYPE_BYTES) return is_one ? HEAD_VIEW : HEAD_VIEWS;
    return HEAD_RUN;
}

static void put_fixed(struct head *head, size_t at, uint8_t byte) {
    head->bytes[at] = byte;
    head->care[at] = 0xff;
}

/* A length, which is so much less than that of the entry. */
static void put_length(struct head *head, size_t at, size_t less) {
    put_fixed(head, at, (uint8_t)(0 - less));
    head->lengths[at] = 0xff;
}

static struct head make_head(const struct slot *slot, uint32_t first) {
    struct convert_range range = convert_range_of(slot->element);
    struct head made = {.first = first,
                        .way = (uint8_t)way_of(slot),
                        .empty_size = LENGTH_MAX + 1,
                        .count = (uint32_t)slot->count,
                        .multiple = slot->multiple > 1 ? 2 : 1,
                        .low = range.low,
                        .span = range.span,
                        .element_size = (uint8_t)range.size};
    size_t size = slot->name_size, at = HEAD_KEY_AT + size;
    if (size > HEAD_KEY_MAX) return made;
    put_fixed(&made, 0, FIELD_1_TAG);
    put_length(&made, 1, 0);
    put_fixed(&made, 2, FIELD_1_TAG);
    put_fixed(&made, 3, (uint8_t)size);
    for (size_t i = 0; i < size; i++) put_fixed(&made, HEAD_KEY_AT + i, (uint8_t)slot->name[i]);
    put_fixed(&made, at, FIELD_2_TAG);
    put_length(&made, at + 1, size + 4);
    put_fixed(&made, at + 2, list_tag(slot->list));
    put_length(&made, at + 3, size + 6);
    put_fixed(&made, at + 4, FIELD_1_TAG);
    put_length(&made, at + 5, size + 8);
    made.data_at = (uint8_t)(at + 6);
    made.empty_size = (uint8_t)(size + 8);
    return made;
}

static void fill_sizes(struct heads *heads) {
    for (size_t size = 0; size <= HEAD_HASH_MAX; size++) {
        heads->masks[size] = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
        heads->last[size] = (uint8_t)(size < 8 ? 0 : size - 8);
    }
}

static uint64_t hash_name(const struct heads *heads, const struct slot *slot) {
    uint8_t key[HEAD_WINDOW] = {0};
    memcpy(key, slot->name, slot->name_size);
    return heads_hash(heads, key, (uint8_t)slot->name_size);
}

/* Where a name belongs; NULL when it is none that is hashed. */
static uint64_t *find_cell(struct heads *heads, const struct slot *slot, size_t index) {
    if (slot->name_size > HEAD_HASH_MAX || index >= HEADS_NONE) return NULL;
    return &heads->cells[hash_name(heads, slot) >> heads->shift];
}

static uint64_t cell_of(const struct heads *heads, const struct slot *slot, size_t index) {
    return (hash_name(heads, slot) & ~(uint64_t)0xffff) | index;
}

/* Puts all names into a table of 2^bits cells. Returns how many found no place: those that are too
 * long, whose cell is taken, or whose hash is that of another name. */
static size_t fill_cells(struct heads *heads, const struct slot *slots, unsigned bits) {
    size_t without = 0;
    heads->shift = 64 - bits;
    for (size_t i = 0; i < (size_t)1 << bits; i++) heads->cells[i] = HEADS_NONE;
    for (size_t i = 0; i < heads->count; i++) {
        if (heads->of_slots[i].first != i) continue;
        uint64_t *cell = find_cell(heads, &slots[i], i);
        if (cell && *cell == HEADS_NONE) *cell = cell_of(heads, &slots[i], i);
        else without++;
    }
    for (size_t i = 0; i < heads->count; i++) {
        uint64_t *cell = find_cell(heads, &slots[i], i);
        if (!cell || heads->of_slots[i].first != i) continue;
        uint64_t wanted = cell_of(heads, &slots[i], i);
        if (*cell == wanted || *cell >> 16 != wanted >> 16) continue;
        *cell = HEADS_NONE;
        without++;
    }
    return without;
}

/* Tables of ever more cells, until every name has one of its own: some 2 to 8 a name for the few
 * dozen names that are usual. */
static bool make_cells(struct heads *heads, const struct slot *slots) {
    unsigned bits = 4;
    while ((size_t)1 << bits < heads->count * 2 && bits < CELL_BITS_MAX) bits++;
    unsigned bits_most = bits + 5 < CELL_BITS_MAX ? bits + 5 : CELL_BITS_MAX;
    heads->cells = malloc(sizeof *heads->cells << bits_most);
    if (!heads->cells) return false;
    while (fill_cells(heads, slots, bits) && bits < bits_most) bits++;
    heads->has_others = fill_cells(heads, slots, bits) > 0;
    return true;
}

struct heads *heads_create(const struct slot *slots, size_t count,
                           const struct example_names *names) {
    struct heads *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->count = count;
    made->names = names;
    made->of_slots = aligned_alloc(HEAD_SIZE, (count + 1) * sizeof *made->of_slots);
    if (!made->of_slots) {
        heads_destroy(made);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        made->of_slots[i] = make_head(&slots[i], (uint32_t)example_names_first(names, i));
    fill_sizes(made);
    if (make_cells(made, slots)) return made;
    heads_destroy(made);
    return NULL;
}

void heads_destroy(struct heads *heads) {
    if (!heads) return;
    free(heads->of_slots);
    free(heads->cells);
    free(heads);
}
