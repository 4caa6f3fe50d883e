#include "parse/example/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/text/json.h"

struct name {
    size_t at; /* offset in `text` */
    size_t size;
    uint64_t hash;
    size_t first; /* index of the first name equal to this one */
};

struct example_names {
    uint8_t *text; /* all names, concatenated */
    struct name *names;
    size_t count;
    size_t *slots; /* index + 1 of a name, or 0; the number of slots is a power of two and at most
                      half are used */
    size_t slot_mask;
    uint64_t sizes; /* bit min(size, 63) for each name's size: rejects most other names without
                       hashing */
    bool repeat;
};

/* The hash needs no secret. Records are untrusted but the names in the table are not, so a record
 * cannot cause more comparisons than the table has names with equal hashes in a row. */
uint64_t example_names_hash(const uint8_t *data, size_t size) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = size * factor, tail = 0;
    for (; size > 8; data += 8, size -= 8) {
        hash = (hash ^ load64(data)) * factor;
        hash ^= hash >> 32;
    }
    if (size >= 4) tail = load32(data) | (uint64_t)load32(data + size - 4) << 32;
    else if (size) tail = data[0] | data[size / 2] << 8 | data[size - 1] << 16;
    hash = (hash ^ tail) * factor;
    return hash ^ hash >> 32;
}

static uint64_t size_bit(size_t size) {
    return UINT64_C(1) << (size < 63 ? size : 63);
}

size_t example_names_find(const struct example_names *names, const uint8_t *data, size_t size) {
    if (!(names->sizes & size_bit(size))) return SIZE_MAX;
    uint64_t hash = example_names_hash(data, size);
    for (size_t slot = hash & names->slot_mask;; slot = (slot + 1) & names->slot_mask) {
        if (!names->slots[slot]) return SIZE_MAX;
        size_t index = names->slots[slot] - 1;
        const struct name *candidate = &names->names[index];
        if (candidate->hash == hash && candidate->size == size &&
            memcmp(names->text + candidate->at, data, size) == 0)
            return index;
    }
}

static void insert(struct example_names *names, size_t index) {
    struct name *added = &names->names[index];
    size_t first = example_names_find(names, names->text + added->at, added->size);
    added->first = first == SIZE_MAX ? index : first;
    if (first != SIZE_MAX) {
        names->repeat = true;
        return;
    }
    names->sizes |= size_bit(added->size);
    size_t slot = added->hash & names->slot_mask;
    while (names->slots[slot]) slot = (slot + 1) & names->slot_mask;
    names->slots[slot] = index + 1;
}

static recmap_status allocate(struct example_names *names, const char *const *list, size_t count,
                              recmap_error *error) {
    size_t slot_count = 4, text_size = 0;
    while (slot_count < count * 2) slot_count *= 2;
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(list[i]);
        if (!utf8_valid((const uint8_t *)list[i], size))
            return fail(error, RECMAP_INVALID, "feature name '%s' is not UTF-8", list[i]);
        text_size += size;
    }
    names->text = malloc(text_size + 1);
    names->slots = calloc(slot_count, sizeof *names->slots);
    names->names = calloc(count + 1, sizeof *names->names);
    if (!names->text || !names->slots || !names->names) return fail_memory(error);
    names->slot_mask = slot_count - 1;
    names->count = count;
    return RECMAP_OK;
}

static void fill(struct example_names *names, const char *const *list) {
    size_t at = 0;
    for (size_t i = 0; i < names->count; i++) {
        size_t size = strlen(list[i]);
        memcpy(names->text + at, list[i], size);
        names->names[i] = (struct name){
            .at = at, .size = size, .hash = example_names_hash(names->text + at, size)};
        at += size;
        insert(names, i);
    }
}

recmap_status example_names_create(struct example_names **names, const char *const *list,
                                   size_t count, recmap_error *error) {
    struct example_names *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    recmap_status status = allocate(fresh, list, count, error);
    if (status != RECMAP_OK) {
        example_names_destroy(fresh);
        return status;
    }
    fill(fresh, list);
    *names = fresh;
    return RECMAP_OK;
}

void example_names_destroy(struct example_names *names) {
    if (!names) return;
    free(names->text);
    free(names->names);
    free(names->slots);
    free(names);
}

size_t example_names_count(const struct example_names *names) {
    return names->count;
}

size_t example_names_first(const struct example_names *names, size_t index) {
    return names->names[index].first;
}

bool example_names_repeat(const struct example_names *names) {
    return names->repeat;
}
