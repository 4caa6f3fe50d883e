#include "order/kinds/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/permutation/wide.h"

enum { WEIGHT_WORK = 32, CHECK_WORK = 8, MULTIPLE_WORK = 8 }; /* for the interrupt, in bytes */

/* A positive double as mantissa * 2^(exponent - 53), where the mantissa has 53 bits. */
struct parts {
    uint64_t mantissa;
    int exponent;
};

static struct parts split_double(double value) {
    struct parts parts;
    parts.mantissa = (uint64_t)ldexp(frexp(value, &parts.exponent), 53);
    return parts;
}

/* value * 2^scale, rounded to the nearest integer, at least 1. */
static uint64_t scale_double(double value, int scale) {
    struct parts p = split_double(value);
    int shift = p.exponent - 53 + scale;
    if (shift >= 0) return p.mantissa << shift;
    if (shift < -54) return 1;
    uint64_t rounded = ((p.mantissa >> (-shift - 1)) + 1) >> 1;
    return rounded ? rounded : 1;
}

static recmap_status check_weights(double *largest, const double *weights, size_t count,
                                   const char *what, recmap_error *error) {
    double max = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return fail(error, RECMAP_INVALID,
                        "the weight of %s %zu is %g: it must be finite and not negative", what, i,
                        weights[i]);
        if (weights[i] > max) max = weights[i];
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), CHECK_WORK, error));
    }
    if (!(max > 0)) return fail(error, RECMAP_INVALID, "all weights are 0");
    *largest = max;
    return RECMAP_OK;
}

recmap_status weights_to_integers(uint64_t *integers, uint64_t *sum, const double *weights,
                                  size_t count, const char *what, recmap_error *error) {
    double largest = 0;
    RETURN_IF_FAILED(check_weights(&largest, weights, count, what, error));
    int bits = 62 - (int)bit_length(count);
    int scale = bits - split_double(largest).exponent;
    *sum = 0;
    for (size_t i = 0; i < count; i++) {
        integers[i] = weights[i] > 0 ? scale_double(weights[i], scale) : 0;
        *sum += integers[i];
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), WEIGHT_WORK, error));
    }
    return RECMAP_OK;
}

/* A share of the total: its integer part, and the remainder of the division by the sum. */
struct multiple {
    uint64_t whole, rest;
};

static bool all_are_near(const struct multiple *multiples, size_t count, uint64_t sum) {
    const uint64_t near = sum >> 26;
    for (size_t i = 0; i < count; i++) {
        bool is_below = multiples[i].rest <= near && multiples[i].whole;
        if (!is_below && sum - multiples[i].rest > near) return false;
    }
    return true;
}

static void next_multiples(struct multiple *multiples, const uint64_t *integers, size_t count,
                           uint64_t sum) {
    for (size_t i = 0; i < count; i++) {
        multiples[i].rest += integers[i];
        if (multiples[i].rest < sum) continue;
        multiples[i].rest -= sum;
        multiples[i].whole++;
    }
}

/* Corrects the total to PROPORTION_MAX: adds one to the largest remainders, the first of equal
 * ones; or subtracts one from the largest proportions, if those that must not be 0 made it too
 * large. */
static recmap_status correct_total(uint32_t *proportions, struct multiple *multiples, size_t count,
                                   int64_t lacking, recmap_error *error) {
    for (; lacking; lacking += lacking < 0 ? 1 : -1) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), count * MULTIPLE_WORK, error));
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            if (lacking > 0 ? multiples[i].rest > multiples[best].rest
                            : proportions[i] > proportions[best])
                best = i;
        proportions[best] += lacking > 0 ? 1 : (uint32_t)-1;
        multiples[best].rest = 0;
    }
    return RECMAP_OK;
}

static recmap_status round_proportions(uint32_t *proportions, struct multiple *multiples,
                                       size_t count, recmap_error *error) {
    int64_t lacking = PROPORTION_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!multiples[i].whole) multiples[i] = (struct multiple){1, 0};
        proportions[i] = (uint32_t)multiples[i].whole;
        lacking -= proportions[i];
    }
    return correct_total(proportions, multiples, count, lacking, error);
}

/* Tries all totals in ascending order: the first one whose rounded proportions are near enough to
 * the weights gives the shortest period. If there is none, the largest is rounded. */
static recmap_status find_proportions(uint32_t *proportions, uint32_t *total,
                                      struct multiple *multiples, const uint64_t *integers,
                                      uint64_t sum, size_t count, recmap_error *error) {
    for (*total = 1; *total <= PROPORTION_MAX; ++*total) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), count * MULTIPLE_WORK, error));
        next_multiples(multiples, integers, count, sum);
        if (all_are_near(multiples, count, sum)) break;
    }
    if (*total > PROPORTION_MAX) {
        *total = PROPORTION_MAX;
        return round_proportions(proportions, multiples, count, error);
    }
    for (size_t i = 0; i < count; i++) {
        bool is_above = multiples[i].rest > sum >> 26 || !multiples[i].whole;
        proportions[i] = (uint32_t)multiples[i].whole + is_above;
    }
    return RECMAP_OK;
}

recmap_status weights_to_proportions(uint32_t *proportions, uint32_t *total,
                                     const uint64_t *integers, uint64_t sum, size_t count,
                                     recmap_error *error) {
    struct multiple *multiples = calloc(count, sizeof *multiples);
    if (!multiples) return fail_memory(error);
    recmap_status status =
        find_proportions(proportions, total, multiples, integers, sum, count, error);
    free(multiples);
    return status;
}
