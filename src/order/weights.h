/* Weights as whole numbers: what doubles say, in arithmetic that is the same on every machine. */
#ifndef RECMAP_ORDER_WEIGHTS_H
#define RECMAP_ORDER_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* Scales all weights by one power of two, so that the largest takes 62 - bit_length(count) bits and
 * their sum stays below 2^62, and rounds each to the nearest whole number (halves up), to 1 where
 * that would make a 0 of a weight above it. Returns the sum in `sum`.
 * Errors: INVALID, naming the weight as `what` and its index, for one below 0, infinite or not a
 * number; when all are 0; when there are none. */
recmap_status weights_to_integers(uint64_t *integers, uint64_t *sum, const double *weights,
                                  size_t count, const char *what, recmap_error *error);

/* The largest total of proportions. */
enum { PROPORTION_MAX = 1 << 20 };

/* The smallest whole numbers, all above 0 and PROPORTION_MAX together at most, that have the
 * proportions of `integers` (all above 0) to within 2^-26 of one; or, where there are none, those
 * nearest to them with the total PROPORTION_MAX. `count` is at most PROPORTION_MAX. */
recmap_status weights_to_proportions(uint32_t *proportions, uint32_t *total,
                                     const uint64_t *integers, uint64_t sum, size_t count,
                                     recmap_error *error);

#endif
