#include "report/values.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MAX = 8192, FIRST_CAPACITY = 64 };

static void halve(struct value_sample *sample) {
    for (size_t i = 0; 2 * i < sample->count; i++) sample->values[i] = sample->values[2 * i];
    sample->count = (sample->count + 1) / 2;
    sample->stride *= 2;
}

static bool grow(struct value_sample *sample) {
    size_t capacity = sample->capacity ? 2 * sample->capacity : FIRST_CAPACITY;
    void *values = realloc(sample->values, capacity * sizeof *sample->values);
    if (!values) return false;
    sample->values = values;
    sample->capacity = capacity;
    return true;
}

bool value_sample_add(struct value_sample *sample, const struct sampled_value *value) {
    if (!sample->stride) sample->stride = 1;
    if (sample->count == CAPACITY_MAX && sample->seen % sample->stride == 0) halve(sample);
    if (sample->seen++ % sample->stride != 0) return true;
    if (sample->count == sample->capacity && !grow(sample)) return false;
    sample->values[sample->count++] = *value;
    return true;
}

void value_sample_deinit(struct value_sample *sample) {
    free(sample->values);
}

static int compare_values(const void *a, const void *b) {
    const struct sampled_value *left = a, *right = b;
    if (left->type != right->type) return left->type < right->type ? -1 : 1;
    if (left->type == RECMAP_TYPE_INT64)
        return (left->as.int64 > right->as.int64) - (left->as.int64 < right->as.int64);
    if (left->type == RECMAP_TYPE_FLOAT)
        return (left->as.number > right->as.number) - (left->as.number < right->as.number);
    if (left->size != right->size) return left->size < right->size ? -1 : 1;
    return memcmp(left->as.bytes, right->as.bytes, left->size);
}

void value_sample_sort(struct value_sample *sample) {
    if (sample->count) qsort(sample->values, sample->count, sizeof *sample->values, compare_values);
}

/* Inserts a value into the list, which is sorted by counts. */
static void insert(struct frequent_value *values, size_t *count, struct frequent_value value) {
    size_t place = *count;
    while (place && values[place - 1].count < value.count) place--;
    if (place == VALUES_SHOWN_MAX) return;
    if (*count < VALUES_SHOWN_MAX) (*count)++;
    memmove(values + place + 1, values + place, (*count - place - 1) * sizeof *values);
    values[place] = value;
}

size_t value_sample_find_frequent(struct frequent_value *values, size_t *different_count,
                                  const struct value_sample *sample) {
    size_t count = 0;
    *different_count = 0;
    for (size_t first = 0, end; first < sample->count; first = end) {
        const struct sampled_value *value = &sample->values[first];
        for (end = first + 1; end < sample->count; end++)
            if (compare_values(value, &sample->values[end])) break;
        insert(values, &count, (struct frequent_value){value, end - first});
        (*different_count)++;
    }
    return count;
}
