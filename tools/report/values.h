/* A bounded sample of values: all of them while there is room, then every second, every fourth, and
 * so on. */
#ifndef RECMAP_TOOLS_REPORT_VALUES_H
#define RECMAP_TOOLS_REPORT_VALUES_H

#include <stdbool.h>

#include <recmap/record.h>

enum { SHORT_VALUE_MAX = 32, VALUES_SHOWN_MAX = 10 };

/* An int64, a float, or bytes of up to SHORT_VALUE_MAX. */
struct sampled_value {
    recmap_type type;
    unsigned size; /* of the bytes */
    union {
        int64_t int64;
        float number;
        char bytes[SHORT_VALUE_MAX];
    } as;
};

struct value_sample {
    struct sampled_value *values;
    size_t count;
    size_t capacity;
    uint64_t seen;
    uint64_t stride; /* every stride-th value is kept */
};

/* Returns false if memory is short. */
bool value_sample_add(struct value_sample *sample, const struct sampled_value *value);
void value_sample_deinit(struct value_sample *sample);

/* Sorts the values, so that equal ones follow each other. */
void value_sample_sort(struct value_sample *sample);

struct frequent_value {
    const struct sampled_value *value;
    size_t count; /* how often it is in the sample */
};

/* Finds the most frequent values of a sorted sample: VALUES_SHOWN_MAX at most, the most frequent
 * first. Returns how many, and sets the number of different values. */
size_t value_sample_find_frequent(struct frequent_value *values, size_t *different_count,
                                  const struct value_sample *sample);

#endif
