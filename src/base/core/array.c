#include "base/core/array.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool array_reserve(void *items, size_t *capacity, size_t needed, size_t item_size) {
    assert(item_size > 0);
    if (needed <= *capacity) return true;
    size_t grown = *capacity < 8 ? 16 : *capacity * 2;
    if (grown < needed) grown = needed;
    if (grown > SIZE_MAX / item_size) return false;
    void *old;
    memcpy(&old, items, sizeof old);
    void *moved = realloc(old, grown * item_size);
    if (!moved) return false;
    memcpy(items, &moved, sizeof moved);
    *capacity = grown;
    return true;
}
