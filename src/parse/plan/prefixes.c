#include "parse/plan/prefixes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "parse/plan/convert.h"

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

static enum prefix_path path_of(const struct slot *slot) {
    bool is_one = slot->count == 1;
    if (slot->raw) return PREFIX_RUN;
    if (slot->list == RECMAP_TYPE_INT64) return is_one ? PREFIX_INT : PREFIX_INTS;
    if (slot->element == RECMAP_ELEMENT_FLOAT32) return is_one ? PREFIX_FLOAT : PREFIX_FLOATS;
    if (slot->list == RECMAP_TYPE_BYTES) return is_one ? PREFIX_VIEW : PREFIX_VIEWS;
    return PREFIX_RUN;
}

static void put_fixed(struct prefix *prefix, size_t at, uint8_t byte) {
    assert(at < PREFIX_SIZE);
    prefix->bytes[at] = byte;
    prefix->care[at] = 0xff;
}

/* A length byte that is smaller than the entry's length by `less`. */
static void put_length(struct prefix *prefix, size_t at, size_t less) {
    put_fixed(prefix, at, (uint8_t)(0 - less));
    prefix->lengths[at] = 0xff;
}

/* Builds the prefix of an entry byte by byte in the layout drawn in prefixes.h. A key that is too
 * long gets a prefix that never matches: its empty_size of 128 exceeds every one-byte length. */
static struct prefix make_prefix(const struct slot *slot, uint32_t first) {
    struct convert_range range = convert_range_of(slot->element);
    struct prefix prefix = {.first = first,
                            .path = (uint8_t)path_of(slot),
                            .empty_size = LENGTH_MAX + 1,
                            .count = (uint32_t)slot->count,
                            .multiple = slot->multiple > 1 ? 2 : 1,
                            .low = range.low,
                            .span = range.span,
                            .element_size = (uint8_t)range.size};
    size_t size = slot->name_size, at = PREFIX_KEY_AT + size;
    if (size > PREFIX_KEY_MAX) return prefix;
    put_fixed(&prefix, 0, FIELD_1_TAG);
    put_length(&prefix, 1, 0);
    put_fixed(&prefix, 2, FIELD_1_TAG);
    put_fixed(&prefix, 3, (uint8_t)size);
    for (size_t i = 0; i < size; i++) put_fixed(&prefix, PREFIX_KEY_AT + i, (uint8_t)slot->name[i]);
    put_fixed(&prefix, at, FIELD_2_TAG);
    /* V, L and D are E less the bytes that follow E, up to and with their own. */
    put_length(&prefix, at + 1, size + 4);
    put_fixed(&prefix, at + 2, list_tag(slot->list));
    put_length(&prefix, at + 3, size + 6);
    put_fixed(&prefix, at + 4, FIELD_1_TAG);
    put_length(&prefix, at + 5, size + 8);
    prefix.data_at = (uint8_t)(at + 6);
    prefix.empty_size = (uint8_t)(size + 8);
    return prefix;
}

static void fill_sizes(struct prefixes *prefixes) {
    for (size_t size = 0; size <= PREFIX_HASH_MAX; size++) {
        prefixes->masks[size] = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
        prefixes->last[size] = (uint8_t)(size < 8 ? 0 : size - 8);
    }
}

static uint64_t hash_name(const struct prefixes *prefixes, const struct slot *slot) {
    uint8_t key[PREFIX_WINDOW] = {0};
    memcpy(key, slot->name, slot->name_size);
    return prefixes_hash(prefixes, key, (uint8_t)slot->name_size);
}

/* Returns the cell of a name, or NULL if the name is not hashed. */
static uint64_t *find_cell(struct prefixes *prefixes, const struct slot *slot, size_t index) {
    if (slot->name_size > PREFIX_HASH_MAX || index >= PREFIXES_NONE) return NULL;
    return &prefixes->cells[hash_name(prefixes, slot) >> prefixes->shift];
}

static uint64_t cell_of(const struct prefixes *prefixes, const struct slot *slot, size_t index) {
    return (hash_name(prefixes, slot) & ~(uint64_t)0xffff) | index;
}

/* Fills a table of 2^bits cells and returns the number of names left out: too long, with an
 * occupied cell, or with the same hash as another name. The second pass empties cells whose hash
 * also belongs to a later name, because the table could not tell those two apart. */
static size_t fill_cells(struct prefixes *prefixes, const struct slot *slots, unsigned bits) {
    size_t without = 0;
    prefixes->shift = 64 - bits;
    for (size_t i = 0; i < (size_t)1 << bits; i++) prefixes->cells[i] = PREFIXES_NONE;
    for (size_t i = 0; i < prefixes->count; i++) {
        if (prefixes->of_slots[i].first != i) continue;
        uint64_t *cell = find_cell(prefixes, &slots[i], i);
        if (cell && *cell == PREFIXES_NONE) *cell = cell_of(prefixes, &slots[i], i);
        else without++;
    }
    for (size_t i = 0; i < prefixes->count; i++) {
        uint64_t *cell = find_cell(prefixes, &slots[i], i);
        if (!cell || prefixes->of_slots[i].first != i) continue;
        uint64_t wanted = cell_of(prefixes, &slots[i], i);
        if (*cell == wanted || *cell >> 16 != wanted >> 16) continue;
        *cell = PREFIXES_NONE;
        without++;
    }
    return without;
}

/* Enlarges the table until every name has a cell of its own, which takes 2 to 8 cells per name for
 * the usual few dozen names. */
static bool make_cells(struct prefixes *prefixes, const struct slot *slots) {
    unsigned bits = 4;
    while ((size_t)1 << bits < prefixes->count * 2 && bits < CELL_BITS_MAX) bits++;
    unsigned bits_max = bits + 5 < CELL_BITS_MAX ? bits + 5 : CELL_BITS_MAX;
    prefixes->cells = malloc(sizeof *prefixes->cells << bits_max);
    if (!prefixes->cells) return false;
    while (fill_cells(prefixes, slots, bits) && bits < bits_max) bits++;
    prefixes->has_others = fill_cells(prefixes, slots, bits) > 0;
    return true;
}

struct prefixes *prefixes_create(const struct slot *slots, size_t count,
                                 const struct example_names *names) {
    struct prefixes *prefixes = calloc(1, sizeof *prefixes);
    if (!prefixes) return NULL;
    prefixes->count = count;
    prefixes->names = names;
    prefixes->of_slots = aligned_alloc(PREFIX_SIZE, (count + 1) * sizeof *prefixes->of_slots);
    if (!prefixes->of_slots) {
        prefixes_destroy(prefixes);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        prefixes->of_slots[i] = make_prefix(&slots[i], (uint32_t)example_names_first(names, i));
    fill_sizes(prefixes);
    if (make_cells(prefixes, slots)) return prefixes;
    prefixes_destroy(prefixes);
    return NULL;
}

void prefixes_destroy(struct prefixes *prefixes) {
    if (!prefixes) return;
    free(prefixes->of_slots);
    free(prefixes->cells);
    free(prefixes);
}
