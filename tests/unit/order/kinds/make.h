/* Orders of each kind for tests, made from a few numbers, and the labels that some are made of. A
 * maker ends the test instead of failing; what it returns is the caller's. */
#ifndef RECMAP_TESTS_UNIT_ORDER_KINDS_MAKE_H
#define RECMAP_TESTS_UNIT_ORDER_KINDS_MAKE_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/order.h>

recmap_order *sequential(uint64_t n);
recmap_order *shuffled(uint64_t n, uint64_t seed);
recmap_order *windowed(uint64_t n, uint64_t block, uint64_t window, uint64_t seed);

/* A view of `base`, which it takes over, through random numbers below 3 * count. */
recmap_order *listed(recmap_order *base, uint64_t seed);

/* A mixture that takes its sources over. */
recmap_order *mixed(recmap_order **sources, const double *weights, size_t count, recmap_stop stop);

/* Labels of `classes` classes, skewed: small ones are rare; malloc'ed. */
int64_t *make_labels(size_t n, uint64_t classes, uint64_t seed);

/* Batches by such labels. */
recmap_order *grouped(size_t n, uint64_t classes, uint64_t batch, uint64_t seed);
recmap_order *stratified(size_t n, uint64_t classes, uint64_t batch, uint64_t seed);

#endif
