/* What the tests of orders share: calls that must work or fail, and checking what an order must
 * always hold, whatever its kind. */
#ifndef RECMAP_TESTS_UNIT_ORDER_KINDS_CHECK_H
#define RECMAP_TESTS_UNIT_ORDER_KINDS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/order.h>

/* Ends the test with the error's text unless the call, which ends in `&error)`, is OK. */
#define MUST(call)                                                                                 \
    do {                                                                                           \
        recmap_error error = RECMAP_ERROR_INIT;                                                    \
        must_be_ok(call, &error, #call);                                                           \
    } while (0)
void must_be_ok(recmap_status status, const recmap_error *error, const char *call);

/* Checks that the call fails with this status and that the message holds `text`. */
#define MUST_FAIL(expected, text, call)                                                            \
    do {                                                                                           \
        recmap_error error = RECMAP_ERROR_INIT;                                                    \
        must_have_failed(call, &error, expected, text, #call);                                     \
    } while (0)
void must_have_failed(recmap_status status, const recmap_error *error, recmap_status expected,
                      const char *text, const char *call);

/* calloc that ends the test instead of failing. */
void *make_array(size_t count, size_t size);

/* The whole epoch, in one run; malloc'ed. */
uint64_t *whole_epoch(const recmap_order *order, uint64_t epoch);

/* Returns true if an array holds each number of [0, n) once. */
bool is_permutation(const uint64_t *numbers, size_t count, uint64_t n);

/* Checks that an epoch is the same one by one, backwards, in random places with repeats, and in
 * runs of all sizes; that numbers are below the limit; that batches, if there are any, tile it. */
void check_access(const recmap_order *order, uint64_t epoch);

/* Checks that position_of is the inverse for each record, once. */
void check_inverse(const recmap_order *order, uint64_t epoch);

/* Checks that an order, which it takes over, has each record once in an epoch, and all of the
 * above. */
void check_once(recmap_order *order);

/* The chi-square of counts against what is expected, in standard deviations from its mean. */
double chi_square_z(const uint64_t *counts, const double *expected, size_t count);

/* The description of the order; malloc'ed. */
char *describe(const recmap_order *order);

/* Returns true if the whole campaigns are asked for: RECMAP_TEST_LONG=1. */
bool is_long(void);

#endif
