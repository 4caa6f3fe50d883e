/* Converting weights from doubles to integers, so that all further arithmetic is the same on every
 * machine. The functions ask the thread's interrupt. */
#ifndef RECMAP_ORDER_KINDS_WEIGHTS_H
#define RECMAP_ORDER_KINDS_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* Scales all weights by one power of two, so that the largest has 62 - bit_length(count) bits and
 * the sum stays below 2^62, and rounds each to the nearest integer (halves up); a positive weight
 * becomes at least 1. `sum` receives the sum.
 * Errors: INVALID if a weight is negative, infinite or not a number (the message has `what` and its
 * index), if all are 0, or if there are none; CANCELLED. */
recmap_status weights_to_integers(uint64_t *integers, uint64_t *sum, const double *weights,
                                  size_t count, const char *what, recmap_error *error);

/* The largest total of proportions. */
enum { PROPORTION_MAX = 1 << 20 };

/* Finds the smallest positive integers with a total of at most PROPORTION_MAX whose proportions
 * equal the proportions of `integers` (all positive) to within 2^-26 of one; if there are none, the
 * nearest ones with the total PROPORTION_MAX. `count` is at most PROPORTION_MAX. Takes up to
 * PROPORTION_MAX * count steps of a nanosecond. Errors: NO_MEMORY; CANCELLED. */
recmap_status weights_to_proportions(uint32_t *proportions, uint32_t *total,
                                     const uint64_t *integers, uint64_t sum, size_t count,
                                     recmap_error *error);

#endif
