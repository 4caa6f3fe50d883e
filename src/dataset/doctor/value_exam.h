/* What is known of the values of one feature: whether they differ, and which numbers are odd. */
#ifndef RECMAP_DATASET_DOCTOR_VALUE_EXAM_H
#define RECMAP_DATASET_DOCTOR_VALUE_EXAM_H

#include "parse/example/feature.h"

/* Numbers that are seldom meant. */
enum number_trait {
    NUMBER_NAN = 1 << 0,
    NUMBER_INFINITE = 1 << 1,
    NUMBER_INEXACT = 1 << 2, /* a float beyond 2^24, where some integers are none, below 2^63 */
};

/* Zero-initialized, it is empty. */
struct value_exam {
    bool has_nan;
    bool has_bytes;
    bool has_int64, has_other_int64; /* another value than `int64` */
    bool has_float, has_other_float; /* except NaN */
    int64_t int64;                   /* the first */
    float float32;
};

/* Adds the values of a feature, or of a step of a feature list. Returns the traits of its numbers,
 * as bits of number_trait. Values of int64 are not looked at any more once two of them differ. */
unsigned value_exam_add(struct value_exam *exam, const struct example_feature *feature,
                        bool is_step);

/* Adds the values of later records. */
void value_exam_merge(struct value_exam *exam, const struct value_exam *later);

/* Returns true if there are numbers, of one kind, and all are the same. */
bool value_exam_is_constant(const struct value_exam *exam);

#endif
