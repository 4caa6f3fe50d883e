/* The fast path for numbers in features, which most records take. */
#ifndef RECMAP_PYTHON_BATCH_PLAIN_NUMBERS_H
#define RECMAP_PYTHON_BATCH_PLAIN_NUMBERS_H

#include "base/python.h"

/* The numbers of an int, a bool or a float, or of a list or tuple of ints and bools, or of floats.
 * `type` is INT64 or FLOAT. It is NONE for all other values: those that are not plain numbers, and
 * those with a number that a feature would change visibly, as `float32_of` in _base/values.py says.
 * These have an error, a warning or a conversion, which Python code finds. */
struct plain_numbers {
    recmap_type type;
    size_t count;
    union {
        int64_t *integers;
        float *floats;
        void *memory;
    } items;
    int64_t one; /* the memory of a single number */
};

/* Returns 0 with an exception if memory runs out. */
int plain_numbers_init(struct plain_numbers *numbers, PyObject *value);
void plain_numbers_deinit(struct plain_numbers *numbers);

#endif
