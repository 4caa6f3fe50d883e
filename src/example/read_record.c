#include "example/read_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example/convert.h"
#include "example/example.h"

struct read_scratch {
    example_feature *found;
    size_t capacity;
};

read_scratch *read_scratch_create(void) {
    return calloc(1, sizeof(read_scratch));
}

void read_scratch_destroy(read_scratch *scratch) {
    if (!scratch) return;
    free(scratch->found);
    free(scratch);
}

void read_roll_back(sink *sinks, const recmap_parser *plan, size_t row) {
    for (size_t i = 0; i < plan->features.count; i++)
        sink_roll_back(&sinks[i], &plan->features.slots[i], row);
    for (size_t i = 0; i < plan->lists.count; i++)
        sink_roll_back(&sinks[plan->features.count + i], &plan->lists.slots[i], row);
}

bool read_nothing(sink *sinks, const recmap_parser *plan, size_t row) {
    for (size_t i = 0; i < plan->features.count; i++)
        sink_put_nothing(&sinks[i], &plan->features.slots[i], row);
    for (size_t i = 0; i < plan->lists.count; i++)
        sink_put_nothing(&sinks[plan->features.count + i], &plan->lists.slots[i], row);
    return true;
}

void read_prefetch(const recmap_parser *plan, const uint8_t *data, size_t size) {
    (void)plan;
    if (size) __builtin_prefetch(data);
}

static const char *kind_name(recmap_type kind) {
    return kind == RECMAP_TYPE_INT64 ? "int64" : kind == RECMAP_TYPE_FLOAT ? "float" : "bytes";
}

/* One value, at most 16 bytes, or what a raw one holds. */
static bool put_value(sink *s, const slot *slot, const recmap_value *value, size_t at) {
    size_t size = recmap_element_size(slot->element);
    uint8_t *to = s->values.data + at * size;
    if (slot->raw)
        return convert_raw(to, slot->element, value->as.bytes.data, value->as.bytes.size / size) ==
               value->as.bytes.size / size;
    if (slot->list == RECMAP_TYPE_INT64)
        return convert_int64(to, slot->element, &value->as.int64, 1) == 1;
    if (slot->list == RECMAP_TYPE_FLOAT)
        return convert_float(to, slot->element, &value->as.float32, 1) == 1;
    memcpy(to, &value->as.bytes, sizeof(recmap_bytes));
    return true;
}

static bool read_slot(sink *s, const slot *slot, const example_feature *found, size_t offset,
                      size_t row, read_fault *fault) {
    size_t size = recmap_element_size(slot->element);
    bool is_fixed = slot->count && !slot->is_list;
    size_t at = is_fixed ? row * slot->count : s->value_count;
    uint64_t count = found->count;
    example_values values = example_values_begin(found);
    recmap_value value;
    if (found->kind == RECMAP_TYPE_NONE) {
        if (is_fixed && !slot->fill)
            return fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                             "feature '%s' is missing and has no default", slot->name);
        if (is_fixed) memcpy(s->values.data + at * size, slot->fill, slot->count * size);
        else sink_put_nothing(s, slot, row);
        return true;
    }
    if (found->kind != slot->list)
        return fault_set(fault, RECMAP_FEATURE, offset,
                         "feature '%s' holds %s where %s is asked for", slot->name,
                         kind_name(found->kind), kind_name(slot->list));
    if (slot->raw) {
        if (count > 1)
            return fault_set(fault, RECMAP_FEATURE, offset, "feature '%s': several raw values",
                             slot->name);
        count = example_feature_first(found).as.bytes.size;
        if (found->count == 0) count = 0;
        if (count % size)
            return fault_set(fault, RECMAP_FEATURE, offset, "feature '%s': not whole elements",
                             slot->name);
        count /= size;
    }
    if (is_fixed ? count != slot->count : count % slot->multiple != 0)
        return fault_set(fault, RECMAP_FEATURE, offset,
                         "feature '%s': %llu values where %s needs %llu", slot->name,
                         (unsigned long long)count, slot->shape,
                         (unsigned long long)(is_fixed ? slot->count : slot->multiple));
    if (!is_fixed && !buffer_reserve(&s->values, s->value_count * size, (at + count) * size))
        return fault_memory(fault);
    for (size_t i = 0; example_values_next(&value, &values); i++)
        if (!put_value(s, slot, &value, at + i))
            return fault_set(fault, RECMAP_FEATURE, offset,
                             "feature '%s': value does not fit in %s", slot->name,
                             recmap_element_name(slot->element));
    if (is_fixed) return true;
    s->value_count += count;
    ((int64_t *)(void *)s->rows.data)[row + 1] = (int64_t)s->value_count;
    return true;
}

bool read_record(sink *sinks, read_scratch *scratch, const recmap_parser *plan, const uint8_t *data,
                 size_t size, size_t row, read_fault *fault) {
    const slot_set *set = &plan->features;
    example_fault wrong;
    if (scratch->capacity < set->count) {
        free(scratch->found);
        scratch->capacity = 0;
        scratch->found = calloc(set->count, sizeof *scratch->found);
        if (!scratch->found) return fault_memory(fault);
        scratch->capacity = set->count;
    }
    if (!example_lookup(scratch->found, set->names, data, size, &wrong)) {
        fault->status = RECMAP_CORRUPT;
        fault->offset = wrong.offset;
        snprintf(fault->message, sizeof fault->message, "no tf.Example: %s", wrong.reason);
        return false;
    }
    for (size_t i = 0; i < set->count; i++) {
        const example_feature *found = &scratch->found[i];
        size_t offset = found->present ? (size_t)(found->entry.at - data) : 0;
        if (read_slot(&sinks[i], &set->slots[i], found, offset, row, fault)) continue;
        for (size_t j = 0; j <= i; j++) sink_roll_back(&sinks[j], &set->slots[j], row);
        return false;
    }
    return true;
}
