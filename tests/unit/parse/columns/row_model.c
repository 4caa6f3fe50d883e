#include "unit/parse/columns/row_model.h"

#include <stdlib.h>

#include <recmap/columns.h>

#include "parse/plan/convert.h"

/* The elements that a feature becomes; the caller frees them. */
struct elements {
    uint8_t *bytes;
    size_t count;
    bool is_good;
};

static const struct example_entry *find_entry(const struct example_features *features,
                                              const char *name) {
    for (size_t i = 0; i < features->count; i++)
        if (features->entries[i].name_size == strlen(name) &&
            memcmp(features->entries[i].name, name, strlen(name)) == 0)
            return &features->entries[i];
    return NULL;
}

static bool convert_one(uint8_t *position, const struct slot *slot, const recmap_value *value) {
    if (value->type == RECMAP_TYPE_INT64)
        return convert_int64(position, slot->element, &value->as.int64, 1) == 1;
    if (value->type == RECMAP_TYPE_FLOAT)
        return convert_float(position, slot->element, &value->as.float32, 1) == 1;
    recmap_bytes view = {value->as.bytes.data, value->as.bytes.size};
    memcpy(position, &view, sizeof view);
    return true;
}

/* The elements of the bytes values of a raw feature, equally many in each. */
static struct elements convert_raw_values(const struct slot *slot,
                                          const struct example_feature *feature) {
    size_t size = recmap_element_size(slot->element);
    struct elements made = {NULL, 0, true};
    recmap_value value, first = example_feature_first(feature);
    struct example_values values = example_values_begin(feature);
    while (example_values_next(&value, &values)) {
        size_t count = value.as.bytes.size / size;
        if (value.as.bytes.size != first.as.bytes.size || value.as.bytes.size % size)
            made.is_good = false;
        made.bytes = realloc(made.bytes, (made.count + count) * size + 1);
        if (!made.bytes) abort();
        if (convert_raw(made.bytes + made.count * size, slot->element, value.as.bytes.data,
                        slot->raw_big_endian, count) != count)
            made.is_good = false;
        made.count += count;
    }
    return made;
}

/* Converts all values of a feature one at a time, or the bytes of a raw one. The result is marked
 * bad as soon as one value does not fit. */
static struct elements convert_all(const struct slot *slot, const struct example_feature *feature) {
    size_t size = recmap_element_size(slot->element);
    struct elements made = {NULL, feature->count, true};
    recmap_value value;
    if (slot->raw) return convert_raw_values(slot, feature);
    made.bytes = malloc(made.count * size + 1);
    if (!made.bytes) abort();
    struct example_values values = example_values_begin(feature);
    for (size_t i = 0; example_values_next(&value, &values); i++)
        if (!convert_one(made.bytes + i * size, slot, &value)) made.is_good = false;
    return made;
}

static int64_t row_begin(const struct sink *held, size_t row) {
    int64_t begin;
    memcpy(&begin, held->rows.data + row * sizeof begin, sizeof begin);
    return begin;
}

static bool is_null(const struct sink *held, size_t row) {
    return !(held->validity.data[row / 8] >> row % 8 & 1);
}

static bool holds(const struct sink *held, const struct slot *slot, size_t row, const void *bytes,
                  size_t count, bool null) {
    size_t size = recmap_element_size(slot->element), begin = row * slot->count;
    if (!slot->count) {
        begin = (size_t)row_begin(held, row);
        if ((size_t)row_begin(held, row + 1) != begin + count) return false;
        if (held->value_count != begin + count) return false;
    }
    return is_null(held, row) == null &&
           (!count || memcmp(held->values.data + begin * size, bytes, count * size) == 0);
}

enum row_verdict row_check(const struct sink *held, const struct slot *slot,
                           const struct example_features *features, size_t row) {
    const struct example_entry *entry = find_entry(features, slot->name);
    if (!entry || entry->feature.kind == RECMAP_TYPE_NONE) {
        if (slot->count && !slot->fill) return ROW_IS_A_FAULT;
        if (!held || holds(held, slot, row, slot->fill, slot->count, !slot->count))
            return ROW_AS_EXPECTED;
        return ROW_DIFFERS;
    }
    if (entry->feature.kind != slot->list && entry->feature.count) return ROW_IS_A_FAULT;
    struct elements made = convert_all(slot, &entry->feature);
    enum row_verdict verdict = ROW_AS_EXPECTED;
    if (!made.is_good ||
        (slot->count ? made.count != slot->count : made.count % slot->multiple != 0))
        verdict = ROW_IS_A_FAULT;
    else if (held && !holds(held, slot, row, made.bytes, made.count, false)) verdict = ROW_DIFFERS;
    free(made.bytes);
    return verdict;
}

bool rows_are_equal(const struct sink *a, const struct sink *b, const struct slot *slot,
                    size_t row_count) {
    size_t size = recmap_element_size(slot->element), count = row_count * slot->count;
    if (a->null_count != b->null_count) return false;
    for (size_t row = 0; row < row_count; row++)
        if (is_null(a, row) != is_null(b, row)) return false;
    if (!slot->count) {
        count = a->value_count;
        if (b->value_count != count ||
            memcmp(a->rows.data, b->rows.data, (row_count + 1) * sizeof(int64_t)) != 0)
            return false;
    }
    return !count || memcmp(a->values.data, b->values.data, count * size) == 0;
}
