#include <assert.h>
#include <string.h>

#include <recmap/columns.h>

#include "parse/plan/slot.h"

static bool has_rows(const struct slot *slot) {
    return slot->count == 0 || slot->is_list;
}

/* Sizes are checked for overflow before anything is reserved, because row counts come from the
 * caller. Fixed counts need no offsets; feature lists always do. */
bool sink_init(struct sink *sink, const struct slot *slot, size_t row_count) {
    static const int64_t zero = 0;
    size_t fixed = 0, offsets, bits = row_count / 8 + 1;
    sink->value_count = sink->step_count = sink->null_count = 0;
    if (row_count >= SIZE_MAX / sizeof(int64_t) - 1) return false;
    offsets = (row_count + 1) * sizeof(int64_t);
    if (!has_rows(slot) &&
        (__builtin_mul_overflow(row_count, slot->count, &fixed) ||
         __builtin_mul_overflow(fixed, recmap_element_size(slot->element), &fixed)))
        return false;
    if (!buffer_reserve(&sink->values, 0, fixed)) return false;
    if (!buffer_reserve(&sink->validity, 0, bits)) return false;
    memset(sink->validity.data, 0xff, bits);
    if (!has_rows(slot)) return true;
    if (!buffer_reserve(&sink->rows, 0, offsets)) return false;
    memcpy(sink->rows.data, &zero, sizeof zero);
    if (!slot->steps) return true;
    if (!buffer_reserve(&sink->steps, 0, sizeof zero)) return false;
    memcpy(sink->steps.data, &zero, sizeof zero);
    return true;
}

void sink_deinit(struct sink *sink) {
    buffer_release(&sink->values);
    buffer_release(&sink->rows);
    buffer_release(&sink->steps);
    buffer_release(&sink->validity);
}

void *sink_extend(struct sink *sink, const struct slot *slot, size_t row, uint64_t count) {
    const size_t size = recmap_element_size(slot->element);
    const uint64_t used = sink->value_count;
    size_t end;
    if (__builtin_add_overflow(used, count, &end) || __builtin_mul_overflow(end, size, &end) ||
        !buffer_reserve(&sink->values, (size_t)used * size, end))
        return NULL;
    sink->value_count += count;
    buffer_int64(&sink->rows)[row + 1] = (int64_t)sink->value_count;
    return sink->values.data + used * size;
}

void sink_roll_back(struct sink *sink, const struct slot *slot, size_t row) {
    uint8_t *bits = &sink->validity.data[row >> 3], bit = (uint8_t)(1u << (row & 7));
    if (!(*bits & bit)) {
        *bits |= bit;
        sink->null_count--;
    }
    if (!has_rows(slot)) return;
    uint64_t begin = (uint64_t)buffer_int64(&sink->rows)[row];
    if (slot->steps) {
        assert(begin <= sink->step_count);
        sink->step_count = begin;
        begin = (uint64_t)buffer_int64(&sink->steps)[begin];
    }
    assert(begin <= sink->value_count);
    sink->value_count = begin;
}

static void put_zeros(struct sink *sink, const struct slot *slot, size_t row) {
    static const uint8_t nothing[1];
    size_t size = slot->count * recmap_element_size(slot->element);
    uint8_t *values = sink->values.data + row * size;
    if (slot->element != RECMAP_ELEMENT_BYTES) {
        memset(values, 0, size);
        return;
    }
    recmap_bytes *views = (recmap_bytes *)(void *)values;
    for (uint64_t i = 0; i < slot->count; i++) views[i] = (recmap_bytes){nothing, 0};
}

void sink_put_null(struct sink *sink, const struct slot *slot, size_t row) {
    sink_set_null(sink, row);
    if (!has_rows(slot)) {
        put_zeros(sink, slot, row);
        return;
    }
    int64_t *rows = buffer_int64(&sink->rows);
    rows[row + 1] = rows[row];
}

void sink_truncate_rows(struct sink *sink, const struct slot *slot, size_t row_count) {
    size_t size = recmap_element_size(slot->element);
    int64_t *rows = buffer_int64(&sink->rows), begin = 0, kept = 0;
    for (size_t i = 0; i < row_count; i++) {
        int64_t count = rows[i + 1] - begin;
        if (count > (int64_t)slot->limit) count = (int64_t)slot->limit;
        if (kept != begin && count)
            memmove(sink->values.data + (size_t)kept * size,
                    sink->values.data + (size_t)begin * size, (size_t)count * size);
        begin = rows[i + 1];
        kept += count;
        rows[i + 1] = kept;
    }
    sink->value_count = (uint64_t)kept;
}
