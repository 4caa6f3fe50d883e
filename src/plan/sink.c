#include <string.h>

#include <recmap/columns.h>

#include "plan/slot.h"

static bool has_rows(const struct slot *slot) {
    return slot->count == 0 || slot->is_list;
}

bool sink_begin(struct sink *begun, const struct slot *slot, size_t row_count) {
    static const int64_t zero = 0;
    size_t fixed = 0, offsets, bits = row_count / 8 + 1;
    begun->value_count = begun->step_count = begun->null_count = 0;
    if (row_count >= SIZE_MAX / sizeof(int64_t) - 1) return false;
    offsets = (row_count + 1) * sizeof(int64_t);
    if (!has_rows(slot) &&
        (__builtin_mul_overflow(row_count, slot->count, &fixed) ||
         __builtin_mul_overflow(fixed, recmap_element_size(slot->element), &fixed)))
        return false;
    if (!buffer_reserve(&begun->values, 0, fixed)) return false;
    if (!buffer_reserve(&begun->validity, 0, bits)) return false;
    memset(begun->validity.data, 0xff, bits);
    if (!has_rows(slot)) return true;
    if (!buffer_reserve(&begun->rows, 0, offsets)) return false;
    memcpy(begun->rows.data, &zero, sizeof zero);
    if (!slot->steps) return true;
    if (!buffer_reserve(&begun->steps, 0, sizeof zero)) return false;
    memcpy(begun->steps.data, &zero, sizeof zero);
    return true;
}

void sink_free(struct sink *freed) {
    buffer_release(&freed->values);
    buffer_release(&freed->rows);
    buffer_release(&freed->steps);
    buffer_release(&freed->validity);
}

void sink_roll_back(struct sink *s, const struct slot *slot, size_t row) {
    uint8_t *bits = &s->validity.data[row >> 3], bit = (uint8_t)(1u << (row & 7));
    if (!(*bits & bit)) {
        *bits |= bit;
        s->null_count--;
    }
    if (!has_rows(slot)) return;
    uint64_t begin = (uint64_t)buffer_int64(&s->rows)[row];
    if (slot->steps) {
        s->step_count = begin;
        begin = (uint64_t)buffer_int64(&s->steps)[begin];
    }
    s->value_count = begin;
}

static void put_zeros(struct sink *s, const struct slot *slot, size_t row) {
    static const uint8_t nothing[1];
    size_t size = slot->count * recmap_element_size(slot->element);
    uint8_t *values = s->values.data + row * size;
    if (slot->element != RECMAP_ELEMENT_BYTES) {
        memset(values, 0, size);
        return;
    }
    recmap_bytes *views = (recmap_bytes *)(void *)values;
    for (uint64_t i = 0; i < slot->count; i++) views[i] = (recmap_bytes){nothing, 0};
}

void sink_put_nothing(struct sink *s, const struct slot *slot, size_t row) {
    sink_set_null(s, row);
    if (!has_rows(slot)) {
        put_zeros(s, slot, row);
        return;
    }
    int64_t *rows = buffer_int64(&s->rows);
    rows[row + 1] = rows[row];
}
