#include "dataset/doctor/value_exam.h"

#include <math.h>
#include <string.h>

#include "parse/example/feature_stats.h"
#include "parse/example/sequence_features.h"
#include "parse/varints/varints.h"

enum {
    CHUNK = 512,                 /* varints decoded at a time */
    EXACT_MAX_BITS = 0x4b800000, /* of FLOAT_EXACT_MAX */
};

static struct example_values begin_values(const struct example_feature *feature, bool is_step) {
    return is_step ? sequence_values_begin(feature) : example_values_begin(feature);
}

/* ---- Integers. */

static void add_int64(struct value_exam *exam, int64_t value) {
    if (!exam->has_int64) exam->int64 = value;
    else exam->has_other_int64 |= value != exam->int64;
    exam->has_int64 = true;
}

static bool differ(const int64_t *values, size_t count, int64_t value) {
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) bits |= (uint64_t)values[i] ^ (uint64_t)value;
    return bits != 0;
}

/* Writers pack all numbers of a feature together. Returns false if there are further ones, unless
 * two differ already. */
static bool add_packed_int64s(struct value_exam *exam, struct wire varints, uint64_t count) {
    int64_t values[CHUNK + VARINTS_SLACK / sizeof(int64_t)];
    while (!wire_done(&varints) && !exam->has_other_int64) {
        size_t size = varints_cut(varints.at, wire_left(&varints), CHUNK);
        size_t decoded = size ? varints_best()(values, CHUNK, varints.at, size) : VARINTS_BAD;
        if (decoded == VARINTS_BAD) return false;
        add_int64(exam, values[0]);
        exam->has_other_int64 |= differ(values, decoded, exam->int64);
        varints.at += size;
        count -= decoded;
    }
    return !count || exam->has_other_int64;
}

static void add_int64s(struct value_exam *exam, const struct example_feature *feature,
                       bool is_step) {
    if (exam->has_other_int64) return;
    if (feature->count == 1) {
        add_int64(exam, example_feature_first(feature).as.int64);
        return;
    }
    if (add_packed_int64s(exam, feature->first, feature->count)) return;
    struct example_values values = begin_values(feature, is_step);
    recmap_value value;
    while (!exam->has_other_int64 && example_values_next(&value, &values))
        add_int64(exam, value.as.int64);
}

/* ---- Floats. */

static unsigned add_float(struct value_exam *exam, float value) {
    if (isnan(value)) {
        exam->has_nan = true;
        return NUMBER_NAN;
    }
    if (!exam->has_float) exam->float32 = value;
    else exam->has_other_float |= value != exam->float32;
    exam->has_float = true;
    float size = fabsf(value);
    if (size <= FLOAT_EXACT_MAX) return 0;
    if (isinf(value)) return NUMBER_INFINITE;
    return size < FLOAT_INTEGER_LIMIT ? NUMBER_INEXACT : 0;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns true if floats in one piece tell nothing new: none of them has a trait, and another value
 * than the first one is known, or they equal it in every bit. */
static bool are_usual(const struct value_exam *exam, const uint8_t *floats, uint64_t count) {
    uint32_t first, largest = 0, differences = 0;
    memcpy(&first, &exam->float32, sizeof first);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits = load32(floats + 4 * i), size = bits & 0x7fffffff;
        largest = size > largest ? size : largest;
        differences |= bits ^ first;
    }
    return exam->has_float && largest <= EXACT_MAX_BITS && (exam->has_other_float || !differences);
}

static unsigned add_floats(struct value_exam *exam, const struct example_feature *feature,
                           bool is_step) {
    unsigned traits = 0;
    const struct wire *first = &feature->first;
    if (wire_left(first) / 4 != feature->count) {
        struct example_values values = begin_values(feature, is_step);
        recmap_value value;
        while (example_values_next(&value, &values)) traits |= add_float(exam, value.as.float32);
        return traits;
    }
    if (are_usual(exam, first->at, feature->count)) return 0;
    for (uint64_t i = 0; i < feature->count; i++)
        traits |= add_float(exam, float_of(load32(first->at + 4 * i)));
    return traits;
}

/* ---- All. */

unsigned value_exam_add(struct value_exam *exam, const struct example_feature *feature,
                        bool is_step) {
    if (!feature->count) return 0;
    if (feature->kind == RECMAP_TYPE_FLOAT) return add_floats(exam, feature, is_step);
    if (feature->kind == RECMAP_TYPE_INT64) add_int64s(exam, feature, is_step);
    else exam->has_bytes = true;
    return 0;
}

void value_exam_merge(struct value_exam *exam, const struct value_exam *later) {
    exam->has_nan |= later->has_nan;
    exam->has_bytes |= later->has_bytes;
    if (later->has_int64) add_int64(exam, later->int64);
    exam->has_other_int64 |= later->has_other_int64;
    if (later->has_float) add_float(exam, later->float32);
    exam->has_other_float |= later->has_other_float;
}

bool value_exam_is_constant(const struct value_exam *exam) {
    if (exam->has_nan || exam->has_bytes || exam->has_int64 == exam->has_float) return false;
    return !exam->has_other_int64 && !exam->has_other_float;
}
