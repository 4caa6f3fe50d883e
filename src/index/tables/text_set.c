#include "index/tables/text_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "index/tables/ids.h"
#include "index/tables/lifted.h"

/* Each text is a byte with its size, followed by its bytes. `slots` is a hash table with linear
 * probing, at most half full, whose entries are codes plus one. */
struct text_set {
    uint8_t *bytes;
    size_t size, capacity;
    size_t *starts; /* of each text in `bytes` */
    size_t count, start_capacity;
    uint32_t *slots;
    size_t slot_count; /* a power of two */
};

enum { FIRST_SLOTS = 64 };

struct text_set *text_set_create(void) {
    struct text_set *texts = calloc(1, sizeof *texts);
    if (!texts) return NULL;
    texts->slot_count = FIRST_SLOTS;
    texts->slots = calloc(FIRST_SLOTS, sizeof *texts->slots);
    if (texts->slots) return texts;
    text_set_destroy(texts);
    return NULL;
}

void text_set_destroy(struct text_set *texts) {
    if (!texts) return;
    free(texts->bytes);
    free(texts->starts);
    free(texts->slots);
    free(texts);
}

recmap_value text_set_at(const struct text_set *texts, uint64_t code) {
    assert(code < texts->count);
    const uint8_t *text = texts->bytes + texts->starts[code];
    recmap_value value = {.type = RECMAP_TYPE_BYTES};
    value.as.bytes.data = text + 1;
    value.as.bytes.size = text[0];
    return value;
}

static bool is_equal(const recmap_value *a, const recmap_value *b) {
    return a->as.bytes.size == b->as.bytes.size &&
           (!a->as.bytes.size || !memcmp(a->as.bytes.data, b->as.bytes.data, a->as.bytes.size));
}

/* The slot of a text, or the free slot in which it belongs. */
static size_t find_slot(const struct text_set *texts, const recmap_value *text) {
    size_t mask = texts->slot_count - 1;
    size_t slot = (size_t)id_hash(text) & mask;
    while (texts->slots[slot]) {
        recmap_value other = text_set_at(texts, texts->slots[slot] - 1);
        if (is_equal(&other, text)) break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool grow_slots(struct text_set *texts) {
    uint32_t *slots = calloc(2 * texts->slot_count, sizeof *slots);
    if (!slots) return false;
    free(texts->slots);
    texts->slots = slots;
    texts->slot_count *= 2;
    for (size_t code = 0; code < texts->count; code++) {
        recmap_value text = text_set_at(texts, code);
        slots[find_slot(texts, &text)] = (uint32_t)code + 1;
    }
    return true;
}

static bool append(struct text_set *texts, const recmap_value *text) {
    size_t size = text->as.bytes.size;
    if (!array_reserve(&texts->starts, &texts->start_capacity, texts->count + 1,
                       sizeof *texts->starts) ||
        !array_reserve(&texts->bytes, &texts->capacity, texts->size + size + 1, 1))
        return false;
    texts->starts[texts->count++] = texts->size;
    texts->bytes[texts->size] = (uint8_t)size;
    if (size) memcpy(texts->bytes + texts->size + 1, text->as.bytes.data, size);
    texts->size += size + 1;
    return true;
}

recmap_status text_set_add(uint64_t *code, struct text_set *texts, const recmap_value *text,
                           recmap_error *error) {
    assert(text->as.bytes.size <= COLUMN_BYTES_MAX);
    size_t slot = find_slot(texts, text);
    if (texts->slots[slot]) {
        *code = texts->slots[slot] - 1;
        return RECMAP_OK;
    }
    if (texts->count == TEXT_SET_MAX)
        return fail(error, RECMAP_INVALID, "the column has more than %d different texts",
                    (int)TEXT_SET_MAX);
    if (!append(texts, text)) return fail_memory(error);
    *code = texts->count - 1;
    texts->slots[slot] = (uint32_t)texts->count;
    if (texts->count * 2 > texts->slot_count && !grow_slots(texts)) return fail_memory(error);
    return RECMAP_OK;
}
